import type { AskedQuestion, Outcome } from './architecture.ts';
import type { Case } from './cases/cases.ts';
import type { ArchitectureFigures, ModelFigures, Violation, ViolationKind } from './report.ts';
import type { RunTurn } from './run-schedule.ts';
import type { Schedule } from './schedule.ts';
import { type BreakingSchedule, type Replaying, shrunk, violationOf } from './shortest.ts';

/** A broken rule with its shortest schedule so far. */
interface Found {
  readonly rule: string;
  readonly kind: ViolationKind;
  schedules: number;
  shortest: BreakingSchedule;
}

/** Counts the runs of one architecture. */
export class FigureCounter {
  readonly #counts = {
    ...{ schedules: 0, proposals: 0, committed: 0, rejected: 0, escalated: 0, held: 0 },
    ...{ refused_valid: 0, unreadable: 0, broken_schedules: 0 },
  };
  readonly #found: Map<string, Found> = new Map();
  readonly #model = { asked: 0, recorded: 0, input_tokens: 0, output_tokens: 0 };
  /** Shrinking repeats runs, so recorded answers to their questions were counted before. */
  #isShrinking = false;

  count(tried: Case, schedule: Schedule, turns: readonly RunTurn[]): void {
    const counts = this.#counts;
    counts.schedules++;
    for (const { outcome, isValid } of turns)
      if (outcome !== undefined) this.#countOutcome(outcome, isValid);
    const broken = turns.flatMap(({ breaks }, i) =>
      breaks.map(({ rule, kind }) => ({ rule, kind, length: i + 1 })),
    );
    if (broken.length > 0) counts.broken_schedules++;
    // The first of each kind: a rule can break, pass again and break again in one schedule.
    const firsts = new Map(
      broken.toReversed().map((each) => [`${each.kind} ${each.rule}`, each] as const),
    );
    for (const [key, { rule, kind, length }] of firsts) {
      const found = this.#found.get(key);
      const shorter = { case: tried, schedule: schedule.slice(0, length) };
      if (found === undefined)
        this.#found.set(key, { rule, kind, schedules: 1, shortest: shorter });
      else {
        found.schedules++;
        if (isShorter(shorter, found.shortest)) found.shortest = shorter;
      }
    }
  }

  #countOutcome(outcome: Outcome, isValid: boolean): void {
    const counts = this.#counts;
    counts.proposals++;
    counts[outcome.outcome]++;
    if (isValid && (outcome.outcome === 'rejected' || outcome.outcome === 'escalated'))
      counts.refused_valid++;
    if ('unreadable' in outcome && outcome.unreadable === true) counts.unreadable++;
  }

  readonly onQuestion = ({ isNew, usage }: AskedQuestion): void => {
    if (!isNew) {
      if (!this.#isShrinking) this.#model.recorded++;
      return;
    }
    this.#model.asked++;
    this.#model.input_tokens += usage?.input ?? 0;
    this.#model.output_tokens += usage?.output ?? 0;
  };

  /** The figures, with each violation by its shortest schedule. */
  async figures(replaying: Replaying): Promise<ArchitectureFigures> {
    this.#isShrinking = true;
    const violations: Violation[] = [];
    for (const { rule, kind, schedules, shortest } of this.#inOrder(replaying)) {
      const smallest = await shrunk(shortest, { rule, kind }, replaying);
      violations.push(await violationOf(smallest, { rule, kind, schedules }, replaying));
    }
    const { asked, recorded } = this.#model;
    const model: ModelFigures | undefined = asked + recorded === 0 ? undefined : { ...this.#model };
    const { name } = replaying.architecture;
    return { architecture: name, ...this.#counts, violations, ...(model && { model }) };
  }

  #inOrder({ evaluator: { domain } }: Replaying): readonly Found[] {
    const found = [...this.#found.values()];
    const ofKind = (rule: string, kind: ViolationKind) =>
      found.filter((one) => one.rule === rule && one.kind === kind);
    return domain.rules.flatMap(({ id }) => [...ofKind(id, 'skew'), ...ofKind(id, 'let_through')]);
  }
}

/** Of equal schedules, the one with the shorter way to its starting state. */
function isShorter(one: BreakingSchedule, other: BreakingSchedule): boolean {
  const [turns, turnsOfOther] = [one.schedule.length, other.schedule.length];
  return (
    turns < turnsOfOther ||
    (turns === turnsOfOther && one.case.reachedBy.length < other.case.reachedBy.length)
  );
}
