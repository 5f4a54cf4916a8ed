import { visible } from 'assize/internal/views/visible.ts';
import type { MouseEvent } from 'react';
import { useLocation } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import classes from './blast-graph.module.css';
import { DERIVATION_WORDS, type Derivation } from './derivation-words.ts';
import type { AffectedEntry } from './incidents-query.ts';
import { type Edge as Derived, layoutOf, type Placed } from './layout.ts';

const NODE = { width: 172, height: 24 };
const STEP = { x: 232, y: 40 };
const MARGIN = { x: 36, y: 26 };
const LETTERS = 22;

/** Affected entries: a column for each trajectory, and rows in the order of the log. */
export function BlastGraph({ entries }: { readonly entries: readonly AffectedEntry[] }) {
  const { columns, nodes, edges } = layoutOf(entries);
  const hows = [...new Set(edges.map(({ how }) => how))];
  const width = MARGIN.x + (columns.length - 1) * STEP.x + NODE.width + 8;
  const height = MARGIN.y + (nodes.length - 1) * STEP.y + NODE.height + 8;
  return (
    <>
      <Legend hows={hows} />
      <nav
        className={classes.frame}
        aria-label="Affected entries and their derivations"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls is reached by keys
        tabIndex={0}
      >
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the navigation has the name */}
        <svg width={width} height={height}>
          {columns.map((trajectory, column) => (
            <text key={trajectory} className={classes.column} x={MARGIN.x + column * STEP.x} y={14}>
              {shortened(visible(trajectory), 28)}
            </text>
          ))}
          {edges.map((edge) => (
            <Edge key={`${edge.from.row} ${edge.to.row} ${edge.how}`} edge={edge} />
          ))}
          {nodes.map((node) => (
            <Node key={node.entry.id} placed={node} entries={entries} />
          ))}
        </svg>
      </nav>
    </>
  );
}

function Node({
  placed,
  entries,
}: {
  readonly placed: Placed<AffectedEntry>;
  readonly entries: readonly AffectedEntry[];
}) {
  const [, navigate] = useLocation();
  const { trajectory_id, seq, action, kind, is_start: isStart, from } = placed.entry;
  const name = visible(action ?? kind);
  const href = timelineHref(trajectory_id, seq);
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(href);
  };
  const reasons = from.map(({ entry, how }) => `${how} of ${placeOf(entries, entry)}`);
  const label = [
    `${seq} ${name}, in ${visible(trajectory_id)}`,
    ...(isStart ? ['start'] : []),
    ...reasons,
  ].join('; ');
  return (
    <a
      href={href}
      className={classes.node}
      onClick={open}
      aria-label={label}
      data-start={isStart || undefined}
    >
      <g transform={`translate(${left(placed)} ${top(placed)})`}>
        <title>{label}</title>
        <rect {...NODE} rx={5} />
        <text x={8} y={NODE.height / 2} dominantBaseline="central">
          {shortened(`${seq} ${name}`, LETTERS)}
        </text>
      </g>
    </a>
  );
}

/**
 * A derivation as a line: in one column beside the left sides of its nodes, and between columns
 * from the lower side of one to the upper side of the other.
 */
function Edge({ edge: { from, to, how } }: { readonly edge: Derived }) {
  const isBeside = from.column === to.column;
  const y = isBeside ? top(from) + NODE.height / 2 : top(from) + NODE.height;
  const down = isBeside ? top(to) + NODE.height / 2 : top(to);
  const bend = Math.min(30, 8 + 3 * (to.row - from.row));
  const x = isBeside ? left(from) : left(from) + NODE.width / 2;
  const end = isBeside ? left(to) : left(to) + NODE.width / 2;
  const path = isBeside
    ? `M${x} ${y}C${x - bend} ${y} ${x - bend} ${down} ${end} ${down}`
    : `M${x} ${y}C${x} ${(y + down) / 2} ${end} ${(y + down) / 2} ${end} ${down}`;
  return <path aria-hidden className={classes.edge} data-how={how} d={path} />;
}

function Legend({ hows }: { readonly hows: readonly Derivation[] }) {
  return (
    <ul className={classes.legend} aria-label="Derivations">
      <li>
        <svg width={30} height={14} aria-hidden className={classes.node} data-start>
          <rect x={2} y={2} width={26} height={10} rx={3} />
        </svg>
        start
      </li>
      {hows.map((how) => (
        <li key={how}>
          <svg width={30} height={8} aria-hidden>
            <path className={classes.edge} data-how={how} d="M0 4H30" />
          </svg>
          {how}: {DERIVATION_WORDS[how]}
        </li>
      ))}
    </ul>
  );
}

function placeOf(entries: readonly AffectedEntry[], id: string): string {
  const found = entries.find((entry) => entry.id === id);
  return found === undefined ? id.slice(0, 12) : `${visible(found.trajectory_id)}@${found.seq}`;
}

function shortened(text: string, letters: number): string {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function left({ column }: { readonly column: number }): number {
  return MARGIN.x + column * STEP.x;
}

function top({ row }: { readonly row: number }): number {
  return MARGIN.y + row * STEP.y;
}
