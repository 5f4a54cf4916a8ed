import { visible, visibleJson } from '@assize/cli/internal/terminal/visible.ts';
import { Table, Text, Title } from '@mantine/core';
import { counted } from '../../parts/counted.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { RulingMark, type RulingName } from '../../parts/ruling-mark.tsx';
import classes from './architectures.module.css';
import { changedPlaces } from './changed-places.ts';
import type { ComparedStep, ComparedViolation } from './comparison.ts';
import { argsText } from './step-text.tsx';

interface RuleProps {
  readonly architecture: string;
  readonly violation: ComparedViolation;
}

const KINDS: Readonly<Record<ComparedViolation['kind'], string>> = {
  skew: 'A skew: the last proposal is right on the state that its agent read. A submission came in between.',
  let_through: 'Let through: the last proposal breaks the rule on the state that its agent read, too.',
};

/** A rule that an architecture lets agents break, with the shortest schedule that was found. */
export function BrokenRule({ architecture, violation }: RuleProps) {
  const { rule, kind, schedules, reached_by: way, start, steps, after } = violation;
  const label = `${architecture} breaks ${rule}, ${kind === 'skew' ? 'as a skew' : 'let through'}`;
  return (
    <article aria-label={visible(label)}>
      <Title order={4} size="h6" className="wraps">
        <Inert>{`${architecture} breaks ${rule}`}</Inert> in {counted(schedules, 'schedule')}
      </Title>
      <Text size="sm" c="dimmed">
        {KINDS[kind]} The shortest schedule:
      </Text>
      <ol className={classes.steps}>
        {way.length > 0 && (
          <li>
            From the initial state, {counted(way.length, 'proposal')} {way.length === 1 ? 'leads' : 'lead'} to the state
            at the start: <Inert>{way.map(({ agent, action }) => `${agent} ${action}`).join(', ')}</Inert>
          </li>
        )}
        {steps.map((step, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps have no other name
          <li key={n} data-breaks={(step.does === 'submit' && step.breaks !== undefined) || undefined}>
            <Step step={step} />
          </li>
        ))}
      </ol>
      <ChangedState start={start} after={after} />
      <details className={classes.state}>
        <summary>State after the last step</summary>
        <JsonText label={`State after the last step: ${label}`} value={after} />
      </details>
    </article>
  );
}

function Step({ step }: { readonly step: ComparedStep }) {
  if (step.does === 'read')
    return (
      <>
        <Inert>{step.agent}</Inert> reads
      </>
    );
  const { agent, action, args, outcome, reason, breaks = [] } = step;
  return (
    <>
      <Inert>{agent}</Inert> submits{' '}
      <code className="wraps">
        <Inert>{`${action} ${argsText(args)}`}</Inert>
      </code>
      <div>
        <RulingMark {...MARKS[outcome]} />
        {reason !== undefined && (
          <>
            {': '}
            <Inert>{reason}</Inert>
          </>
        )}
      </div>
      {breaks.map(({ rule, detail }) => (
        <div key={rule}>
          <b>
            Breaks <Inert>{rule}</Inert>:
          </b>{' '}
          <Inert>{detail}</Inert>
        </div>
      ))}
    </>
  );
}

type Outcome = Extract<ComparedStep, { does: 'submit' }>['outcome'];

/** The mark of each outcome, and its word where the mark has another. */
const MARKS: Readonly<Record<Outcome, { readonly ruling: RulingName; readonly word?: string }>> = {
  committed: { ruling: 'committed' },
  rejected: { ruling: 'rejected' },
  escalated: { ruling: 'escalated' },
  held: { ruling: 'begun', word: 'Held' },
};

/** The places of the state that the schedule changed. */
function ChangedState({ start, after }: { readonly start: unknown; readonly after: unknown }) {
  return (
    <Table fz="sm" verticalSpacing={5} layout="fixed" className={classes.places}>
      <Table.Thead>
        <Table.Tr>
          {['Changed place', 'At the start', 'After the last step'].map((title) => (
            <Table.Th key={title} scope="col">
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changedPlaces(start, after).map(({ place, ...values }) => (
          <Table.Tr key={place}>
            <Table.Th scope="row">
              <Inert>{place}</Inert>
            </Table.Th>
            <Value of={values.before} />
            <Value of={values.after} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Undefined: the state has no such place. */
function Value({ of }: { readonly of: unknown }) {
  return <Table.Td>{of === undefined ? 'none' : <code className="wraps">{visibleJson(of)}</code>}</Table.Td>;
}
