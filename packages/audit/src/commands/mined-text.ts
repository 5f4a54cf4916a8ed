import { bold, dim, line, type Output, type Printable, yellow } from '@assize/command';
import type { CounterExample, MinedCandidate, MiningReport } from '@assize/gate/internal/mining';
import { counted } from 'assize/internal/views';

/** Mined rules as a table, the calls that break them, and the next commands. */
export function printMined(
  out: Output,
  { runs, good, calls, erased, candidates, none }: MiningReport,
): void {
  if (candidates.length > 0) {
    out.table(
      [
        { title: 'rule' },
        { title: 'runs', align: 'right' },
        { title: 'calls', align: 'right' },
        { title: 'agents' },
        { title: 'obey', align: 'right' },
        { title: 'chance', align: 'right' },
        { title: 'if in force' },
        { title: 'says' },
      ],
      candidates.map((candidate) => [
        candidate.id,
        candidate.support.runs,
        candidate.support.calls,
        candidate.support.agents.join(', '),
        percent(candidate.confidence),
        candidate.kind === 'allow' ? '-' : chanceText(candidate.p),
        inForceText(candidate),
        candidate.statement,
      ]),
    );
    out.line(line``);
  }
  for (const candidate of candidates) for (const text of exceptionsOf(candidate)) out.line(text);
  const among = good === runs ? '' : ` of ${runs}`;
  const mined = `${counted(good, 'run')}${among} with ${counted(calls, 'committed call')} mined`;
  out.line(line`${bold(`${mined}: ${counted(candidates.length, 'rule')}.`)}`);
  if (none !== undefined) out.line(line`${none}`);
  if (erased > 0)
    out.line(yellow(`Not mined: ${counted(erased, 'action')} with erased arguments.`));
  const first = candidates.find(({ written }) => written !== undefined);
  if (first !== undefined)
    out.line(
      dim(
        `Add a rule to a file with --accept ${first.id} --write assize.yaml, or print it without --write.`,
      ),
    );
}

/** The most calls that a line names. */
const LISTED_MAX = 5;

/** The calls that break the rule: in the mined runs, and in the other runs. */
function* exceptionsOf({
  id,
  counter_example_count: count,
  counter_examples: examples,
  everywhere,
}: MinedCandidate): Generator<Printable> {
  if (count > 0)
    yield line`${id} is broken by ${counted(count, 'call')}: ${placesOf(examples, count)}.`;
  const others = everywhere.counter_example_count - count;
  if (others > 0) {
    const named = new Set(examples.map(placeOf));
    const rest = everywhere.counter_examples.filter((each) => !named.has(placeOf(each)));
    yield line`${id} is broken by ${counted(others, 'call')} in the other runs: ${placesOf(rest, others)}.`;
  }
}

function placesOf(examples: readonly CounterExample[], count: number): string {
  const shown = examples.slice(0, LISTED_MAX).map(placeOf).join(', ');
  return count > LISTED_MAX ? `${shown} and ${count - LISTED_MAX} more` : shown;
}

function placeOf({ run, call, entry }: CounterExample): string {
  return entry === undefined ? `${run}, call ${call}` : `${entry.trajectory_id}@${entry.seq}`;
}

/** The effect of the rule on the recorded calls, by its backtest. */
function inForceText({ written, not_written }: MinedCandidate): string {
  if (not_written !== undefined) return 'no rule of a file';
  const backtest = written?.backtest;
  if (backtest === undefined) return '';
  if (backtest.difference_count === 0) return 'nothing changes';
  return Object.entries(backtest.changes)
    .map(([kind, n]) => `${n} ${kind.replace('_to_', ' → ')}`)
    .join(', ');
}

/** Rounded down, so that only a rule without exceptions has 100 %. */
function percent(share: number): string {
  return `${Math.floor(share * 1_000) / 10} %`;
}

/** The probability that the runs obey the rule by chance. */
function chanceText(p: number): string {
  return p >= 0.001 ? p.toFixed(3) : p.toExponential(0);
}
