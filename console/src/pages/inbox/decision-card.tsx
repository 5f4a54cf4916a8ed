import { Alert, Anchor, Badge, Group, Text, Title } from '@mantine/core';
import type { Shown } from 'assize/internal/views/shown.ts';
import { Link } from 'wouter';
import type { Card } from '../../api/queries.ts';
import { memoryHref } from '../../parts/addresses.ts';
import { counted } from '../../parts/counted.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago, RowTime } from '../../parts/instant.tsx';
import { StopChip } from '../../parts/stop-chip.tsx';
import { amountsOf } from './common-sum.ts';
import { askedAs } from './gated-call-of.ts';
import { LooksLike } from './looks-like.tsx';

interface CardProps {
  readonly card: Card;
  /** The words of the amended arguments. */
  readonly amended: Shown | undefined;
}

/** The effect of an approval, whether it can be undone, and why a person is asked. */
export function DecisionCard({ card, amended }: CardProps) {
  const { title, requester, at, trajectory_id, channel, detail, rule, contradictions } = card;
  const amounts = amountsOf(amended ?? card);
  return (
    <header>
      <Group gap="xs" align="baseline">
        <Title order={2} size="h4" className="wraps">
          <Words>{title}</Words>
        </Title>
        {!title.includes(amounts) && <Text fw={700}>{amounts}</Text>}
        <Badge variant="default">
          <Inert>{channel}</Inert>
        </Badge>
        <StopChip stop={card.stop} />
      </Group>
      <Text size="sm" c="dimmed">
        <Inert>{requester}</Inert>
        <LooksLike name={requester} namesIn={(other) => [other.requester]} /> asked <Ago at={at} />{' '}
        in <World id={trajectory_id} />
        <Inert>{askedAs(card)}</Inert>
      </Text>
      {amended !== undefined && (
        <Text size="sm">
          As amended: <Words>{amended.title}</Words>
        </Text>
      )}
      <Text mt="xs" fw={600}>
        {stopText(card) ?? (
          <>
            {card.of === 'effect' ? 'To settle it: ' : 'If you approve: '}
            <Words>{amended?.confirm ?? card.effect}</Words>
          </>
        )}
      </Text>
      <Text size="sm">
        <Inert>{undoText(card)}</Inert>
      </Text>
      {contradictions?.map(({ given, remembered }) => {
        const { space, subject, predicate, fact, since, text } = remembered;
        const href = memoryHref(trajectory_id, space, { subject, predicate, fact, since });
        return (
          <Alert key={`${given.name} ${fact} ${since}`} mt="xs" p="xs" color="yellow">
            <strong>This contradicts the memory.</strong>
            <br />
            <Inert>{`${given.name}: ${given.text}`}</Inert>
            <br />
            <Anchor component={Link} href={href} size="sm" c="inherit" underline="always">
              memory of <Inert>{subject}</Inert>
            </Anchor>
            <Inert>{`, ${predicate}: ${text}`}</Inert>
          </Alert>
        );
      })}
      <Text size="sm" mt="xs">
        A person is asked because: <Inert>{detail}</Inert>
        {rule !== undefined && (
          <Text span size="xs" c="dimmed">
            {' '}
            Rule <Inert>{rule}</Inert>
          </Text>
        )}
      </Text>
      <Text size="sm" c="dimmed">
        <Waits card={card} />
      </Text>
      <Facts>
        {(amended ?? card).fields.map(({ at, label, text }) => (
          <Fact key={at} name={label}>
            <Inert>{text}</Inert>
            <LooksLike
              name={text}
              namesIn={({ fields }) =>
                fields.flatMap((one) => (one.label === label ? one.text : []))
              }
            />
          </Fact>
        ))}
      </Facts>
    </header>
  );
}

/** Why the proposal of a stopped agent cannot be approved. */
export function stopText({ stop }: Card): string | undefined {
  return stop && `Its agent is ${stop}: it can only be rejected.`;
}

function undoText({ undo }: Card): string {
  if (undo === undefined) return 'No tool is called for it.';
  if (!undo.can) return 'It cannot be undone.';
  return undo.by === undefined ? 'It can be undone.' : `It can be undone by ${undo.by}.`;
}

/** The other proposals that wait, the needed approvals, the deputies, and the end. */
function Waits({
  card: { waiting = 0, approvals, approved_by, deputies = [], expires },
}: Pick<CardProps, 'card'>) {
  const others =
    waiting > 0 &&
    `${counted(waiting, 'other proposal')} here ${waiting === 1 ? 'waits' : 'wait'}. `;
  const given = approved_by.length > 0 && ` (${approved_by.join(', ')})`;
  return (
    <>
      {others}
      {approvals > 1 && (
        <Inert>{`${approved_by.length} of ${approvals} approvals${given || ''}. `}</Inert>
      )}
      {deputies.map(({ of, kind, from }) => (
        <span key={of}>
          <Inert>{`The ${kind} may decide for ${of} from `}</Inert>
          <RowTime at={from} />.{' '}
        </span>
      ))}
      {expires !== undefined && (
        <>
          Ends <Ago at={expires} />.
        </>
      )}
    </>
  );
}
