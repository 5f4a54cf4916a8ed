import type { Json } from 'assize/internal/base';
import type { AgentProposal, Architecture, Outcome, Setting } from './architecture.ts';
import type { Case } from './cases/cases.ts';
import type { Evaluator } from './evaluator.ts';
import type { ViolationKind } from './report.ts';
import type { Schedule } from './schedule.ts';

/** A rule that passed before a submission and does not pass after it. */
export interface Break {
  readonly rule: string;
  readonly kind: ViolationKind;
  readonly detail: string;
}

/** A turn of a schedule that was run. */
export interface RunTurn {
  /** Absent if the agent proposed nothing. */
  readonly proposal?: AgentProposal;
  readonly outcome?: Outcome;
  /** Whether every rule passes on the state that the proposal leads to from the current one. */
  readonly isValid: boolean;
  readonly before: Json;
  readonly after: Json;
  readonly breaks: readonly Break[];
}

/** Runs one schedule under one architecture. */
export async function runSchedule(
  architecture: Architecture,
  { start, agents }: Case,
  schedule: Schedule,
  evaluator: Evaluator,
  setting: Omit<Setting, 'start'>,
): Promise<readonly RunTurn[]> {
  const execution = await architecture.begin({ ...setting, start });
  try {
    const states: Json[] = [start];
    const done: RunTurn[] = [];
    for (const { agent: index, readAfter } of schedule) {
      const [read, before] = [states[readAfter] as Json, states.at(-1) as Json];
      const agent = agents[index] as Case['agents'][number];
      const intent = await agent.decide(read, evaluator);
      if (intent === undefined) {
        states.push(before);
        done.push({ isValid: false, before, after: before, breaks: [] });
        continue;
      }
      const proposal = { agent: agent.name, ...intent };
      const outcome = await execution.submit(proposal, read);
      const after = execution.state();
      states.push(after);
      const isValid = evaluator.isValid(before, proposal);
      done.push({
        proposal,
        outcome,
        isValid,
        before,
        after,
        breaks: breaksOf(evaluator, { proposal, read, before, after }),
      });
    }
    return done;
  } finally {
    await execution.close?.();
  }
}

interface Submitted {
  readonly proposal: AgentProposal;
  readonly read: Json;
  readonly before: Json;
  readonly after: Json;
}

/**
 * A rule that the proposal would also break on the state that its agent has read is `let_through`.
 * Otherwise the proposal was right there, and only the submissions in between make it wrong: a
 * `skew`.
 */
function breaksOf(
  evaluator: Evaluator,
  { proposal, read, before, after }: Submitted,
): readonly Break[] {
  const earlier = new Set(evaluator.failing(before).map(({ rule }) => rule));
  const broken = evaluator.failing(after).filter(({ rule }) => !earlier.has(rule));
  if (broken.length === 0) return [];
  const onRead = evaluator.evaluate(read, proposal);
  const wasRight = (id: string): boolean =>
    !('refused' in onRead) && onRead.broken.every(({ rule }) => rule !== id);
  return broken.map(({ rule, detail }) => ({
    rule,
    detail,
    kind: wasRight(rule) ? 'skew' : 'let_through',
  }));
}
