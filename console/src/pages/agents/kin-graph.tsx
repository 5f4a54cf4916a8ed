import { visible } from 'assize/internal/views/visible.ts';
import type { MouseEvent } from 'react';
import { useLocation } from 'wouter';
import type { Placed } from './kin.ts';
import classes from './kin-graph.module.css';

const NODE = { width: 150, height: 28 };
const STEP = { x: 246, y: 42 };
const EDGE = 6;
const LETTERS = 20;

interface GraphProps {
  readonly family: readonly Placed[];
  readonly current: string;
}

/** A family of trajectories as a drawing. A dashed line is a branch, a whole one a delegation. */
export function KinGraph({ family, current }: GraphProps) {
  const byId = new Map(family.map((one) => [one.trajectory.trajectory_id, one]));
  const width =
    (Math.max(...family.map(({ column }) => column)) + 1) * STEP.x -
    (STEP.x - NODE.width) +
    2 * EDGE;
  const height =
    (Math.max(...family.map(({ line }) => line)) + 1) * STEP.y - (STEP.y - NODE.height) + 2 * EDGE;
  return (
    <nav className={classes.frame} aria-label="Branches and delegations between worlds">
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the navigation has the name */}
      <svg width={width} height={height}>
        {family.map((one) => {
          const parent = one.parent === undefined ? undefined : byId.get(one.parent);
          return parent && <Edge key={one.trajectory.trajectory_id} from={parent} to={one} />;
        })}
        {family.map((one) => (
          <Node
            key={one.trajectory.trajectory_id}
            placed={one}
            isCurrent={one.trajectory.trajectory_id === current}
          />
        ))}
      </svg>
    </nav>
  );
}

function Node({ placed, isCurrent }: { readonly placed: Placed; readonly isCurrent: boolean }) {
  const [, navigate] = useLocation();
  const { trajectory, parent, tie } = placed;
  const { trajectory_id: id, entries } = trajectory;
  const name = visible(id);
  const href = `/agents/${encodeURIComponent(id)}`;
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(href);
  };
  const begun = parent === undefined ? '' : `, ${tie} of ${visible(parent)}`;
  return (
    <a
      href={href}
      className={classes.node}
      onClick={open}
      aria-label={`${name}${begun}, ${entries} ${entries === 1 ? 'entry' : 'entries'}`}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <g transform={`translate(${left(placed)} ${top(placed)})`}>
        <title>{name}</title>
        <rect {...NODE} rx={5} />
        <text x={10} y={NODE.height / 2} dominantBaseline="central">
          {name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name}
        </text>
      </g>
    </a>
  );
}

/** From the right side of a trajectory down to the left side of the one that began from it. */
function Edge({ from, to }: { readonly from: Placed; readonly to: Placed }) {
  const start = left(from) + NODE.width;
  const end = left(to);
  const y = top(from) + NODE.height / 2;
  const down = top(to) + NODE.height / 2;
  const bend = start + 14;
  return (
    <g aria-hidden>
      <path
        className={classes.edge}
        data-tie={to.tie}
        d={y === down ? `M${start} ${y}H${end}` : `M${start} ${y}H${bend}V${down}H${end}`}
      />
      <text className={classes.tie} x={bend + 8} y={down - 5}>
        {to.tie}
      </text>
    </g>
  );
}

function left({ column }: Placed): number {
  return EDGE + column * STEP.x;
}

function top({ line }: Placed): number {
  return EDGE + line * STEP.y;
}
