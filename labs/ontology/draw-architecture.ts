import { arrow, frame, text, widthOf } from './svg.ts';

interface Column {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

interface Places {
  readonly agents: Column;
  readonly metaAgent: Column;
  /** All columns begin and end here. */
  readonly top: number;
  readonly below: number;
}

interface Escalating {
  readonly id: string;
  readonly counselor: string;
}

interface Drawn {
  readonly right: number;
  readonly bottom: number;
  readonly drawn: readonly string[];
}

const PAD = 10;
const ROW = 18;
/** Between the meta-agent and the queue, for two arrows with their words. */
const GAP = 110;
const PROPOSALS = 'proposals';
const SLICES = 'slices of the new state';

/**
 * The architecture around the columns: the meta-agent around its rules, the proposals that it gets
 * from all agents and the slices that it sends, its ledger, and the counselor queue for the rules
 * that escalate.
 */
export function drawArchitecture(
  invariants: readonly Escalating[],
  { agents, metaAgent, top, below }: Places,
): Drawn {
  const meta = {
    x: metaAgent.left - PAD,
    y: top - 34,
    width: metaAgent.right - metaAgent.left + 2 * PAD,
    height: metaAgent.bottom - top + 34,
  };
  const left = meta.x + meta.width + GAP;
  const ledger = ledgerAt(left, top, meta.x + meta.width);
  const queue = queueAt(queueLines(invariants), {
    left,
    top: ledger.bottom + 2 * ROW,
    from: meta.x + meta.width,
  });
  const down = Math.max(below, meta.y + meta.height, queue.bottom);
  const flows = flowsBelow(agents, meta, down);
  return {
    right: Math.max(ledger.right, queue.right),
    bottom: flows.bottom,
    drawn: [frame(meta, 'meta'), ...ledger.drawn, ...queue.drawn, ...flows.drawn],
  };
}

function ledgerAt(left: number, top: number, from: number): Drawn {
  const lines = ['Ledger', 'one entry for each decision'];
  const place = {
    x: left,
    y: top,
    width: Math.max(...lines.map(widthOf)) + 2 * PAD,
    height: 3 * ROW,
  };
  return {
    right: left + place.width,
    bottom: top + place.height,
    drawn: [
      frame(place, 'meta'),
      ...words(lines, place),
      ...arrow(
        [
          [from, top + ROW],
          [left, top + ROW],
        ],
        'flow',
      ),
      text(from + PAD, top + ROW - 6, 'records', 'small'),
    ],
  };
}

/** Nothing where no rule escalates. */
function queueAt(
  lines: readonly string[],
  { left, top, from }: { readonly left: number; readonly top: number; readonly from: number },
): Drawn {
  if (lines.length === 0) return { right: left, bottom: top, drawn: [] };
  const width = Math.max(...lines.map(widthOf)) + 2 * PAD;
  const place = { x: left, y: top, width, height: Math.max((lines.length + 1) * ROW, 5 * ROW) };
  const [out, back] = [top + 1.5 * ROW, top + 4 * ROW];
  return {
    right: left + width,
    bottom: top + place.height,
    drawn: [
      frame(place, 'queue'),
      ...words(lines, place),
      ...arrow(
        [
          [from, out],
          [left, out],
        ],
        'flow',
      ),
      text(from + PAD, out - 6, 'escalates', 'small'),
      ...arrow(
        [
          [left, back],
          [from, back],
        ],
        'flow',
      ),
      text(from + PAD, back - 6, 'decides', 'small'),
    ],
  };
}

function queueLines(invariants: readonly Escalating[]): string[] {
  const kinds = [...new Set(invariants.map(({ counselor }) => counselor))].filter(
    (kind) => kind !== '',
  );
  if (kinds.length === 0) return [];
  const of = (kind: string): string[] =>
    invariants.filter(({ counselor }) => counselor === kind).map(({ id }) => `  ${id}`);
  return ['Counselor queue', ...kinds.flatMap((kind) => [`${kind} decides:`, ...of(kind)])];
}

function words(
  lines: readonly string[],
  { x, y }: { readonly x: number; readonly y: number },
): string[] {
  return lines.map((line, i) =>
    text(x + PAD, y + (i + 1) * ROW + 2, line, i === 0 ? 'strong' : 'small'),
  );
}

/** Below all columns: proposals to the meta-agent, and slices back. */
function flowsBelow(
  agents: Column,
  meta: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  down: number,
): Drawn {
  const [start, end] = [agents.left + 2 * PAD, meta.x + meta.width / 2];
  const from = agents.bottom;
  const under = meta.y + meta.height;
  const [to, back] = [down + 1.5 * ROW, down + 3 * ROW];
  const label = agents.left + 5 * PAD;
  return {
    right: meta.x + meta.width,
    bottom: back + PAD,
    drawn: [
      ...arrow(
        [
          [start + 2 * PAD, from],
          [start + 2 * PAD, to],
          [end, to],
          [end, under],
        ],
        'flow',
      ),
      text(label + PAD, to - 6, PROPOSALS, 'small'),
      ...arrow(
        [
          [end + 2 * PAD, under],
          [end + 2 * PAD, back],
          [start, back],
          [start, from],
        ],
        'flow back',
      ),
      text(label + PAD, back - 6, SLICES, 'small'),
    ],
  };
}
