// A native modal dialog: focus stays inside and goes back on closing.
import type {Signal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';

interface DialogProps {
  open: Signal<boolean>;
  label: string;
  class: string;
  children: ComponentChildren;
}

export function Dialog({open, label, class: name, children}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isOpen = open.value;
  // At once: the event of an earlier closing comes late, and must find the dialog open again.
  useLayoutEffect(() => {
    if (isOpen) element.current?.showModal();
    else element.current?.close();
  }, [isOpen]);
  const close = () => { open.value = false; };
  return (
    <dialog ref={element} class={name} aria-label={label} onCancel={close}
            onClose={() => { if (!element.current?.open) close(); }}
            onClick={(event) => {
              // A click on the dialog itself, not on its content, is one on the backdrop.
              if (event.target === element.current) close();
            }}>
      {isOpen && children}
    </dialog>
  );
}
