import { Radio, Stack, Text } from '@mantine/core';
import type { Approval } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Part } from '../../parts/part.tsx';
import type { DecisionDraft } from './use-decision-draft.ts';

type Question = NonNullable<Approval['questions']>[number];

interface QuestionsProps {
  readonly approval: Approval;
  readonly draft: DecisionDraft;
}

/** The contradictions of the proposal. An approval needs a winner of each. */
export function Questions({ approval, draft }: QuestionsProps) {
  const { questions, may_decide } = approval;
  if (questions === undefined) return null;
  if (questions === null)
    return (
      <Part title="Contradictions">
        <Text size="sm">
          A fact that they quote was erased, so the proposal can only be rejected.
        </Text>
      </Part>
    );
  return (
    <Part title={questions.length === 1 ? 'A contradiction to decide' : 'Contradictions to decide'}>
      {questions.map((question) => (
        <Choice key={question.request} question={question} draft={draft} isReadOnly={!may_decide} />
      ))}
    </Part>
  );
}

function Choice({
  question,
  draft,
  isReadOnly,
}: {
  readonly question: Question;
  readonly draft: DecisionDraft;
  readonly isReadOnly: boolean;
}) {
  const { request, subject, predicate, members } = question;
  const chosen = draft.answers.find((answer) => answer.request === request)?.winner ?? null;
  return (
    <Radio.Group
      label={<Inert>{`${subject} ${predicate}`}</Inert>}
      description="The claim that holds. The others lose in its time."
      value={chosen}
      onChange={(winner) => draft.choose(request, winner)}
    >
      <Stack gap={6} mt={6}>
        {members.map((member) => (
          <Radio
            key={member.claim}
            value={member.claim}
            disabled={isReadOnly || draft.amendment.isChanged}
            label={<Inert>{claimText(member)}</Inert>}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function claimText({ object, ends, confidence, valid }: Question['members'][number]): string {
  const text = typeof object === 'string' ? object : JSON.stringify(object);
  const times = valid.map(({ from, to }) => `${from} to ${to}`).join(', ');
  return `${ends === true ? 'not any more ' : ''}${text} (${times}; confidence ${confidence})`;
}
