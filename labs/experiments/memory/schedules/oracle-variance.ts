import { level } from '../isolation/index.ts';
import { find } from './detect.ts';
import { execute } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import { type Schedule, schedule } from './schedule.ts';

/** With a log, at SR; and without one, where each call asks the oracle. */
const LOGS = ['keyed', 'none'] as const;
type Log = (typeof LOGS)[number];

/** As many as the paper has: cells of Table 23, and re-queries of Figure 6. */
const CELLS = 30;
const STEPS = 24;
/** Number of questions in the averaged agreement, each with its own p. */
const QUESTIONS = 20;

/**
 * Table 23, "oracle variance" (Theorem 17, B.2): how often two judgements of one question differ,
 * for a judge that says 1 with probability p. Without a log the rate tends to 2p(1−p). With a log
 * it is 0. The thirty values of p in the paper belong to language models and are not printed. The
 * values here are spread evenly from 0 to 1.
 */
export function oracleVariance(random: Bytes, pairs = 500): Grid {
  requireCount(pairs, 'pairs');
  const chance = new RandomDraws(random);
  const rows = LOGS.flatMap((log) =>
    Array.from({ length: CELLS }, (_, i): Row => {
      const p = i / (CELLS - 1);
      return {
        cell: { log, p },
        expected: log === 'keyed' ? 0 : 2 * p * (1 - p),
        found: differing(CALLS[log], p, pairs, chance),
      };
    }),
  );
  return { name: 'oracle variance', source: 'Theorem 17, B.2, Table 23', isExact: false, rows };
}

/**
 * Figure 6: how often all of t judgements of one question agree. The judge says 1 with
 * probabilities that are spread evenly between 0 and 1 over the questions. The agreement is
 * C(t) = E[p^t + (1−p)^t] without a log, and 1 with one.
 */
export function trajectory(random: Bytes, runs = 200): Grid {
  requireCount(runs, 'runs');
  const chance = new RandomDraws(random);
  const ps = Array.from({ length: QUESTIONS }, (_, i) => (i + 0.5) / QUESTIONS);
  const rows = LOGS.flatMap((log) => {
    const agreeing = ps.flatMap((p) =>
      Array.from({ length: runs }, () => agreement(log, p, chance)),
    );
    return Array.from({ length: STEPS }, (_, i): Row => {
      const t = i + 1;
      const closed = ps.reduce((sum, p) => sum + p ** t + (1 - p) ** t, 0) / ps.length;
      const row = {
        cell: { log, t },
        expected: log === 'keyed' ? 1 : closed,
        found: agreeing.filter((calls) => calls >= t).length / agreeing.length,
      };
      return { ...row, ...printed(log, t) };
    });
  });
  return { name: 'replay trajectory', source: 'Figure 6', isExact: false, rows };
}

/** The values of Figure 6: 1 throughout with a log, and the end of the other line. */
function printed(log: Log, t: number): Pick<Row, 'reported' | 'because'> {
  if (log === 'keyed') return { reported: 1 };
  return t === STEPS
    ? { reported: 0.06, because: 'over the thirteen p of its own cells, which are not printed' }
    : {};
}

const CALLS: Readonly<Record<Log, Schedule>> = {
  keyed: schedule('j1(R,θ) j2(R,θ) c1 c2'),
  none: schedule('j1(R) j2(R) c1 c2'),
};

function differing(calls: Schedule, p: number, pairs: number, chance: RandomDraws): number {
  let count = 0;
  for (let i = 0; i < pairs; i++) {
    const execution = execute(calls, level('SR'), { vote: () => Number(chance.isSo(p)) });
    if (find('N1', execution).length > 0) count += 1;
  }
  return count / pairs;
}

/** How many of the calls agree with the first, until one does not. */
function agreement(log: Log, p: number, chance: RandomDraws): number {
  const key = log === 'keyed' ? 'R,θ' : 'R';
  const calls = Array.from({ length: STEPS }, (_, i) => `j${i + 1}(${key}) c${i + 1}`).join(' ');
  const { done } = execute(schedule(calls), level('SR'), { vote: () => Number(chance.isSo(p)) });
  const votes = done.flatMap((one) => (one.kind === 'judge' ? [one.vote] : []));
  const other = votes.findIndex((vote) => vote !== votes[0]);
  return other < 0 ? votes.length : other;
}
