// Signs drawn as vectors. All are decoration: the text beside them says the same.
import type {ComponentChildren} from 'preact';

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="2" y="3.5" width="9" height="2.4" rx="1.2" fill="currentColor" opacity=".45" />
      <rect x="2" y="8.8" width="16" height="2.4" rx="1.2" fill="var(--heat)" />
      <rect x="2" y="14.1" width="12" height="2.4" rx="1.2" fill="currentColor" opacity=".45" />
    </svg>
  );
}

export function SortArrow({direction}: {direction: 'ascending' | 'descending' | null}) {
  const path = direction === 'ascending' ? 'M1 6.5 4.5 2 8 6.5z' :
      direction === 'descending' ? 'M1 2.5 4.5 7 8 2.5z' : 'M2 3.6 4.5 1 7 3.6zM2 5.4 4.5 8 7 5.4z';
  return (
    <svg class={`sort-arrow${direction === null ? ' idle' : ''}`} viewBox="0 0 9 9" width="9"
         height="9" aria-hidden="true"><path d={path} fill="currentColor" /></svg>
  );
}

function Line({children, size = 16}: {children: ComponentChildren; size?: number}) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width={size} height={size} fill="none"
         stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round"
         aria-hidden="true">{children}</svg>
  );
}

// Calls: into a function, and out of it.
export function CallsIcon() {
  return (
    <Line size={14}><path d="M1.5 8h3.2M11.3 8h3.2M3.2 6.2 5 8 3.2 9.8M13 6.2 14.8 8 13 9.8" />
      <circle cx="8" cy="8" r="2.1" /></Line>
  );
}

export function SearchIcon() {
  return <Line><circle cx="7" cy="7" r="4.3" /><path d="m10.3 10.3 3.2 3.2" /></Line>;
}

export function SparkIcon() {
  return <Line><path d="M7 2.2 8.4 6 12.2 7.4 8.4 8.8 7 12.6 5.6 8.8 1.8 7.4 5.6 6zM12.4 10.6v3.6M10.6 12.4h3.6" /></Line>;
}

export function SunIcon() {
  return (
    <Line><circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4" />
      <path d="M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1" />
    </Line>
  );
}

export function MoonIcon() {
  return <Line><path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" /></Line>;
}

export function SystemIcon() {
  return (
    <Line><circle cx="8" cy="8" r="5.6" />
      <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z" fill="currentColor" />
    </Line>
  );
}

export function Chevron({open}: {open: boolean}) {
  return <Line size={12}><path d={open ? 'M3.5 6 8 10.5 12.5 6' : 'M6 3.5 10.5 8 6 12.5'} /></Line>;
}

export function FileIcon() {
  return <Line size={14}><path d="M4 1.8h5l3 3v9.4H4zM9 1.8v3h3" /></Line>;
}

export function WarningIcon() {
  return <Line><path d="M8 2.2 14.4 13.4H1.6zM8 6.4v3.4M8 11.6v.1" /></Line>;
}

export function InfoIcon() {
  return <Line><circle cx="8" cy="8" r="5.8" /><path d="M8 7.2v3.6M8 5.1v.1" /></Line>;
}

export function ErrorIcon() {
  return <Line><circle cx="8" cy="8" r="5.8" /><path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4" /></Line>;
}

export function CloseIcon() {
  return <Line size={12}><path d="m4 4 8 8M12 4l-8 8" /></Line>;
}

export function FunnelIcon() {
  return <Line size={14}><path d="M2.5 3.5h11L9.3 8.4v3.8l-2.6 1.3V8.4z" /></Line>;
}
