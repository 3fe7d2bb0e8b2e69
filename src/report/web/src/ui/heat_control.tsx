// What colours a table, and the scale of the colours.
import type {HeatMetric} from '../state/navigation.ts';
import {updateView, viewState} from '../state/navigation.ts';

const CHOICES: ReadonlyArray<readonly [HeatMetric, string]> = [['none', 'None'], ['time', 'Time']];

const SCALE = 'Colour scale: logarithmic, from 0.1 per cent of the largest value in the report ' +
    'to the hottest';

export function HeatControl() {
  const {heat} = viewState.value;
  return (
    <div class="heat-control">
      {heat !== 'none' &&
        <div class="legend" role="img" aria-label={SCALE}>
          <span>0.1%</span>
          <span class="ramp"><i style={{left: '33.3%'}} /><i style={{left: '66.6%'}} /></span>
          <span>hottest</span>
        </div>}
      <fieldset class="segments">
        <legend>Heatmap by</legend>
        {CHOICES.map(([id, name]) => (
          <label class={heat === id ? 'on' : ''} key={id}>
            <input type="radio" name="heat" checked={heat === id}
                   onChange={() => updateView({heat: id})} />{name}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

export function cycleHeat(): void {
  updateView({heat: viewState.value.heat === 'none' ? 'time' : 'none'});
}
