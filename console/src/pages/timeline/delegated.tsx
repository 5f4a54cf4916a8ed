import { Anchor } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Part } from '../../parts/part.tsx';
import { amountsText } from './authority.tsx';
import { type EntryDocument, payloadOf, valueAt } from './entry-query.ts';
import { HeldValue } from './held-value.tsx';

/** A step of a delegation: its task, its trajectory, and its answer. */
export function Delegated({ entry }: { readonly entry: EntryDocument }) {
  const step = payloadOf(entry, 'delegation');
  if (step === undefined) return null;
  const { child_trajectory_id: child, task, concludes, final_answer, budget_cost } = step;
  return (
    <>
      <Part title="Delegation">
        <Facts>
          <Fact name="Task">{task}</Fact>
          <Fact name="World">
            <Anchor component={Link} href={timelineHref(child)} size="sm">
              {visible(child)}
            </Anchor>
          </Fact>
          {concludes !== undefined && (
            <Fact name="Began with">
              <EntryLink id={concludes} />
            </Fact>
          )}
          {budget_cost !== undefined && <Fact name="Spent">{amountsText(budget_cost)}</Fact>}
        </Facts>
      </Part>
      {final_answer !== undefined && (
        <Part title="Answer">
          <HeldValue held={valueAt(entry, '/final_answer', final_answer)} label="Answer" />
        </Part>
      )}
    </>
  );
}
