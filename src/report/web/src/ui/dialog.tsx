// A native modal dialog: focus stays inside and goes back on closing.
import type {Signal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {useEffect, useRef} from 'preact/hooks';

interface DialogProps {
  open: Signal<boolean>;
  label: string;
  class: string;
  children: ComponentChildren;
}

export function Dialog({open, label, class: name, children}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isOpen = open.value;
  useEffect(() => {
    if (isOpen) element.current?.showModal();
    else element.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={element} class={name} aria-label={label} onClose={() => { open.value = false; }}
            onClick={(event) => {
              // A click on the dialog itself, not on its content, is one on the backdrop.
              if (event.target === element.current) open.value = false;
            }}>
      {isOpen && children}
    </dialog>
  );
}
