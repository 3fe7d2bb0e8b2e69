// The whole file beside its table: where the hot lines are and what is searched for, and which part is in sight. For the
// pointer only; the keys n and p lead to the same lines.
import {useEffect, useRef, useState} from 'preact/hooks';

import {shownTheme} from '../state/theme.ts';

interface ScrollMapProps {
  // Selector of the scrolling element.
  scroller: string;
  // Heat (0 to 1) of each row, in the order shown.
  heats: Float32Array;
  // Rows that hold what is searched for.
  hits: readonly number[];
}

const WIDTH = 12;
// Height of a mark, so that a single hot line of a long file is seen.
const MARK = 2;

export function ScrollMap({scroller: selector, heats, hits}: ScrollMapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const sight = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  const themeNow = shownTheme.value;

  useEffect(() => {
    const element = frame.current;
    const scroller = document.querySelector<HTMLElement>(selector);
    if (element === null || scroller === null) return;
    const follow = () => {
      const whole = Math.max(1, scroller.scrollHeight);
      if (sight.current === null) return;
      sight.current.style.top = `${100 * scroller.scrollTop / whole}%`;
      sight.current.style.height = `${100 * scroller.clientHeight / whole}%`;
    };
    const observer = new ResizeObserver(() => {
      setHeight(element.clientHeight);
      follow();
    });
    observer.observe(element);
    scroller.addEventListener('scroll', follow, {passive: true});
    follow();
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', follow);
    };
  }, [selector, heats]);

  useEffect(() => {
    if (canvas.current !== null && height > 0) draw(canvas.current, heats, hits, height);
  }, [heats, hits, height, themeNow]);

  const jump = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    const scroller = document.querySelector<HTMLElement>(selector);
    if (event.buttons === 0 || box === undefined || scroller === null) return;
    const part = (event.clientY - box.top) / box.height;
    scroller.scrollTop = part * scroller.scrollHeight - scroller.clientHeight / 2;
  };

  return (
    <div class="scroll-map" ref={frame} aria-hidden="true" onPointerDown={jump} onPointerMove={jump}>
      <canvas ref={canvas} />
      <div class="sight" ref={sight} />
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, heats: Float32Array, hits: readonly number[], height: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = WIDTH * ratio;
  canvas.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = getComputedStyle(canvas).getPropertyValue('--heat').trim();
  // Hottest of the rows that share a mark.
  const marks = new Float32Array(Math.ceil(height / MARK) + 1);
  for (let row = 0; row < heats.length; row++) {
    const mark = Math.floor(row / heats.length * height / MARK);
    if (heats[row] > marks[mark]) marks[mark] = heats[row];
  }
  const rowHeight = height / heats.length;
  marks.forEach((value, mark) => {
    if (value === 0) return;
    context.globalAlpha = value;
    context.fillRect(2, mark * MARK, WIDTH - 4, Math.max(MARK, Math.min(rowHeight, 8)));
  });
  context.globalAlpha = 1;
  context.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent').trim();
  for (const row of hits) {
    context.fillRect(WIDTH - 5, row / heats.length * height, 5, Math.max(MARK, Math.min(rowHeight, 4)));
  }
}
