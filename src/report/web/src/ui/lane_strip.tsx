// One lane: what a thread, or the threads of a process, did over time.
import {useEffect, useRef, useState} from 'preact/hooks';
import type {RefObject} from 'preact';

import {shownTheme} from '../state/theme.ts';
import type {LanePicture} from './timeline_draw.ts';
import {drawLane, LANE_HEIGHT} from './timeline_draw.ts';

export function LaneStrip(picture: LanePicture) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const {lane, life, span, width, at, selected} = picture;
  const theme = shownTheme.value;
  useEffect(() => {
    if (canvas.current !== null && width > 0) drawLane(canvas.current, picture);
  }, [lane, life[0], life[1], span.begin, span.end, width, at, selected?.[0], selected?.[1], theme]);
  return <canvas ref={canvas} class="lane-strip" aria-hidden="true" style={{height: `${LANE_HEIGHT}px`}} />;
}

// Width of an element, in pixels, as it is laid out.
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry.contentRect.width));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
