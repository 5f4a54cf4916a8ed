import { useState } from 'react';
import type { Approval } from '../../api/queries.ts';
import type { Judgement } from '../../parts/judgement.tsx';
import type { Finding } from '../../parts/schema-form/findings.ts';
import { type Amendment, useAmendment } from './use-amendment.ts';
import { useDecisionJudgement } from './use-decision-judgement.ts';

export type Broken = NonNullable<Extract<Judgement, { ruling: 'refused' }>['broken']>;

/** A decision that is being written, with the ruling that it would get. */
export interface DecisionDraft {
  readonly amendment: Amendment;
  /** Whether the approval overrides rules. False if the result is known to break none. */
  readonly override: boolean;
  readonly setOverride: (override: boolean) => void;
  /** The chosen winner of each contradiction. */
  readonly answers: readonly { readonly request: string; readonly winner: string }[];
  readonly choose: (request: string, winner: string) => void;
  /** Whether each contradiction has a winner. */
  readonly isAnswered: boolean;
  readonly judgement: {
    readonly judged: Judgement | undefined;
    readonly isOld: boolean;
    readonly isUnreadable: boolean;
    readonly error: Error | null;
    readonly findings: readonly Finding[];
    readonly broken: Broken;
    readonly needsOverride: boolean;
  };
}

export function useDecisionDraft(approval: Approval): DecisionDraft {
  const amendment = useAmendment(approval);
  const [isTicked, setOverride] = useState(false);
  const [winners, setWinners] = useState<ReadonlyMap<string, string>>(new Map());
  const { isChanged } = amendment;
  const answers = [...winners].map(([request, winner]) => ({ request, winner }));
  const draft = isChanged ? { args: amendment.args } : { answers };
  const { judged, isOld, isUnreadable, error } = useDecisionJudgement(approval, {
    ...draft,
    override: isTicked,
  });
  const refused = judged?.ruling === 'refused' ? judged : undefined;
  const overridden = judged?.ruling === 'committed' ? judged.overridden : undefined;
  const breaksNothing = judged?.ruling === 'committed' && !isOld && (overridden ?? []).length === 0;
  return {
    amendment,
    override: isTicked && !breaksNothing,
    setOverride,
    answers,
    choose: (request, winner) => setWinners((before) => new Map(before).set(request, winner)),
    isAnswered:
      isChanged || (approval.questions ?? []).every(({ request }) => winners.has(request)),
    judgement: {
      judged,
      isOld,
      isUnreadable,
      error,
      findings: refused?.findings ?? [],
      broken: refused?.broken ?? overridden ?? [],
      needsOverride: refused?.code === 'override_needed',
    },
  };
}
