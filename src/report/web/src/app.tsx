// The shell: header, rail, the view of the current route, and what lies above them.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';

import type {Report} from './data/report.ts';
import {documentComplete} from './data/chunks.ts';
import {visible} from './lib/visible.ts';
import {ReportContext} from './state/context.ts';
import {entryId, navigate, rememberScroll, route, viewState} from './state/navigation.ts';
import {openAssistant} from './state/assistant.ts';
import {nextTheme} from './state/theme.ts';
import {LiveRegion} from './ui/announce.tsx';
import {AssistantDialog} from './ui/assistant.tsx';
import {Header, helpOpen, paletteOpen} from './ui/header.tsx';
import {Selected, showEverything} from './ui/filter_bar.tsx';
import {cycleHeat} from './ui/heat_control.tsx';
import {ExpressionsDialog} from './ui/expressions.tsx';
import {HelpDialog} from './ui/help.tsx';
import {WarningIcon} from './ui/icons.tsx';
import {useKeys} from './ui/keys.ts';
import {Palette} from './ui/palette.tsx';
import {Rail} from './ui/rail.tsx';
import {AboutView} from './views/about.tsx';
import {FilesView} from './views/files.tsx';
import {FlameView} from './views/flame.tsx';
import {FunctionsView} from './views/functions.tsx';
import {OverviewView} from './views/overview.tsx';
import {ProcessesView} from './views/processes.tsx';
import {SourceView} from './views/source.tsx';

const VIEW_TITLES = {
  overview: 'Overview', files: 'Files', functions: 'Functions', flame: 'Flame graph', processes: 'Processes', about: 'About',
};

export function App({report}: {report: Report}) {
  useGlobalKeys();
  useTitle(report);
  return (
    <ReportContext.Provider value={report}>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById('main')?.focus();
      }}>Skip to content</a>
      <Header />
      <div class="app-body">
        <Rail />
        <Main report={report} />
      </div>
      <Palette />
      <HelpDialog />
      <ExpressionsDialog />
      <AssistantDialog />
      <LiveRegion />
    </ReportContext.Provider>
  );
}

function Main({report}: {report: Report}) {
  const main = useRef<HTMLElement>(null);
  const {view} = route.value;
  // Tables scroll by themselves; the other views scroll as a whole.
  const scrolls = view === 'overview' || view === 'processes' || view === 'about';
  const entry = entryId.value;
  useLayoutEffect(() => {
    if (main.current !== null) main.current.scrollTop = scrolls ? viewState.peek().top ?? 0 : 0;
  }, [entry]);
  return (
    <main id="main" tabIndex={-1} ref={main} class={scrolls ? '' : 'filled'} onScroll={() => {
      if (scrolls && main.current !== null) rememberScroll(main.current.scrollTop, 0);
    }}>
      <Completeness report={report} />
      {view === 'about' ? <View /> : <Selected><View /></Selected>}
    </main>
  );
}

function View() {
  const here = route.value;
  switch (here.view) {
    case 'files': return <FilesView />;
    case 'functions': return <FunctionsView />;
    case 'flame': return <FlameView />;
    case 'processes': return <ProcessesView />;
    case 'about': return <AboutView />;
    case 'source': return <SourceView file={here.file} />;
    default: return <OverviewView />;
  }
}

// A half-copied file opens, and says so.
function Completeness({report}: {report: Report}) {
  const [present, setPresent] = useState<number | null>(null);
  const {count} = report.index.chunks;
  useEffect(() => {
    void documentComplete().then(() => setPresent(report.chunks.present()));
  }, [report]);
  if (present === null || present >= count) return null;
  return (
    <div class="banner status-interrupted" role="alert">
      <WarningIcon />
      <div><strong>This file is incomplete: {present} of {count} parts are present.</strong> What is
        missing says so where it belongs; the rest can be used.</div>
    </div>
  );
}

const CHORD_MS = 1000;

function useGlobalKeys(): void {
  const chordSince = useRef(-Infinity);
  const view = (letter: string, go: () => void, alone: () => void = () => {}) => ({
    [letter]: () => {
      const chord = performance.now() - chordSince.current < CHORD_MS;
      chordSince.current = -Infinity;
      if (chord) go();
      else alone();
    },
  });
  useKeys({
    '/': () => { paletteOpen.value = true; },
    '?': () => { helpOpen.value = true; },
    '[': () => history.back(),
    ']': () => history.forward(),
    Escape: showEverything,
    h: cycleHeat,
    i: () => openAssistant(),
    g: () => { chordSince.current = performance.now(); },
    ...view('o', () => navigate({view: 'overview'})),
    ...view('f', () => navigate({view: 'files'})),
    ...view('u', () => navigate({view: 'functions'})),
    ...view('l', () => navigate({view: 'flame'})),
    ...view('t', () => navigate({view: 'processes'}), nextTheme),
    ...view('a', () => navigate({view: 'about'})),
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      paletteOpen.value = !paletteOpen.value;
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

function useTitle({index}: Report): void {
  const here = route.value;
  const name = here.view === 'source' ? index.files.label[here.file] ?? 'No such file' :
      VIEW_TITLES[here.view];
  const title = `${visible(name)} – ${visible(index.run.title)} – LineScope`;
  useEffect(() => { document.title = title; }, [title]);
}
