import {hasProcesses} from '../lib/names.ts';
import {formatCount} from '../lib/format.ts';
import {sampledProcesses} from '../lib/process_rows.ts';
import {useReport} from '../state/context.ts';
import {route} from '../state/navigation.ts';
import {FileTreeRail} from './file_tree.tsx';

export function Rail() {
  const {index} = useReport();
  const here = route.value.view;
  const items = [
    {view: 'overview', name: 'Overview', count: null},
    {view: 'files', name: 'Files', count: index.files.path.length},
    {view: 'functions', name: 'Functions', count: index.functions},
    ...(index.calls === null ? [] : [{view: 'flame', name: 'Flame graph', count: null}]),
    ...(hasProcesses(index) ?
      [{view: 'processes', name: 'Processes', count: sampledProcesses(index).size}] : []),
    {view: 'about', name: 'About', count: null},
  ];
  return (
    <div class="rail">
      <nav class="views" aria-label="Views">
        <ul>
          {items.map(({view, name, count}) => (
            <li key={view}>
              <a href={`#${view}`} {...(here === view ? {'aria-current': 'page' as const} : {})}>
                {name}{count !== null && <span class="count">{formatCount(count)}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {index.files.path.length > 0 && <FileTreeRail />}
    </div>
  );
}
