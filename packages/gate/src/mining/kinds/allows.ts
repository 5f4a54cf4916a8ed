import {
  type AnsweringRule,
  flowText,
  leftBy,
  type Pins,
  type Rules,
  rulesToAllow,
} from '#gateway';
import type { Mine } from '../hypothesis.ts';
import type { MiningCall, MiningRun } from '../run.ts';

/**
 * Rules that would have answered questions. Each has the chance 0, because it does not
 * generalise from samples.
 */
export const mineAllows: Mine = (runs) => {
  const answers = runs.flatMap(({ calls }) => calls.flatMap((call) => call.answers ?? []));
  const rules = [...new Map(answers.map((rule) => [flowText(rule), rule])).values()];
  return {
    tested: 0,
    hypotheses: rules.map((rule) => ({ rule: { kind: 'allow', tool: rule.allow, rule }, p: 0 })),
  };
};

/**
 * The runs, with the rules that would answer the questions of `rules`. None lets a call through,
 * also together with the others, that a person has refused, or for which no rule is proposed.
 */
export function withAnswers(
  runs: readonly MiningRun[],
  rules: Rules,
  pins?: Pins,
): readonly MiningRun[] {
  const left = leftBy(rules, [], pins);
  const asked = runs.flatMap(wholeIn).filter((call) => left(call) !== undefined);
  const found = new Map<string, AnsweringRule>();
  const closed = asked.filter((call) => {
    const { approvedBy = [], ruling } = call.made;
    const answer = rulesToAllow(rules, call, pins, approvedBy.length > 0);
    if ('problem' in answer) return true;
    const [rule, ...more] = answer.rules as [AnsweringRule];
    // One of several rules answers no question by itself.
    if (more.length === 0) found.set(flowText(rule), rule);
    return ruling === 'rejected';
  });
  const together = leftBy(rules, [...found.values()], pins);
  const kept = closed.filter((call) => together(call) === undefined);
  const answers = new Map<MiningCall, AnsweringRule[]>();
  for (const rule of found.values()) {
    const under = leftBy(rules, [rule], pins);
    const partIn = ({ parts }: Whole) => parts.find(({ tool }) => tool === rule.allow);
    // Of a call with several parts, the others may be answered by other rules.
    if (kept.some((call) => partIn(call) && (call.parts.length > 2 || under(call) === undefined)))
      continue;
    for (const call of asked) {
      const part = partIn(call);
      if (part !== undefined && under(call) === undefined)
        answers.set(part, [...(answers.get(part) ?? []), rule]);
    }
  }
  return runs.map(({ id, calls }) => ({
    id,
    calls: calls.map((call) => ({ ...call, answers: answers.get(call) ?? [] })),
  }));
}

type Whole = ReturnType<typeof wholeIn>[number];

/** The calls of a run, with their parts as calls of their own. */
function wholeIn({ calls }: MiningRun) {
  return calls.flatMap((made, i) => {
    const { whole: args, principal: agent = '' } = made;
    if (args === undefined) return [];
    return [{ made, agent, args, parts: calls.slice(i, i + 1 + (args.parts ?? []).length) }];
  });
}
