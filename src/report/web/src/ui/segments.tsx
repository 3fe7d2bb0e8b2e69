// A few choices of which one is on, side by side.
export interface Choice<T extends string> {
  id: T;
  name: string;
  hint?: string;
}

interface SegmentsProps<T extends string> {
  legend: string;
  // Whether the legend is seen; it is always read out.
  titled?: boolean;
  choices: ReadonlyArray<Choice<T>>;
  value: T;
  disabled?: boolean;
  onChange: (id: T) => void;
}

export function Segments<T extends string>({legend, titled, choices, value, disabled, onChange}: SegmentsProps<T>) {
  const name = `segments-${legend.replace(/\W+/g, '-').toLowerCase()}`;
  return (
    <fieldset class="segments" disabled={disabled ?? false}>
      <legend class={titled === true ? '' : 'sr-only'}>{legend}</legend>
      {choices.map((choice) => (
        <label class={value === choice.id ? 'on' : ''} key={choice.id} title={choice.hint}>
          <input type="radio" name={name} checked={value === choice.id}
                 onChange={() => onChange(choice.id)} />{choice.name}
        </label>
      ))}
    </fieldset>
  );
}
