import {
  Alert,
  Button,
  Group,
  NumberInput,
  Radio,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { Card } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { InstantInput } from '../../parts/instant-input.tsx';
import { JudgementLine } from '../../parts/judgement.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { WideDialog } from '../../parts/wide-dialog.tsx';
import { AskedStanding } from './asked-standing.tsx';
import {
  endOfToday,
  type LikeCalls,
  likeCallsOf,
  suggestedAmounts,
  wholeServers,
} from './like-calls.ts';
import { Meaning } from './meaning.tsx';
import {
  type StandingTerms,
  useAskStanding,
  useMayChangeStanding,
  useStanding,
  useTermsJudgement,
} from './standing-query.ts';

/** Milliseconds after the last change until the server is asked. */
const QUIET_MS = 250;
const HOUR_MS = 3_600_000;
/** The suggested number of uses, unless more calls wait or the rules allow fewer. */
const USES = 10;

/** Offers a standing approval for calls that wait, if they are calls of one agent. */
export function AllowMore({ cards }: { readonly cards: readonly Card[] }) {
  const [isOpen, setOpen] = useState(false);
  const like = likeCallsOf(cards);
  const mayAsk = useMayChangeStanding();
  if (like === undefined || !mayAsk) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Allow more like this…
      </Button>
      {isOpen && (
        <WideDialog title="Allow more like this" onClose={() => setOpen(false)}>
          <Loaded cards={cards} like={like} onClose={() => setOpen(false)} />
        </WideDialog>
      )}
    </>
  );
}

interface FormProps {
  readonly cards: readonly Card[];
  readonly like: LikeCalls;
  readonly onClose: () => void;
}

/** Loads the most that the rules allow, and the amounts of the waiting calls, before the form. */
function Loaded(props: FormProps) {
  const { trajectory, agent, tools } = props.like;
  const [until] = useState(() => new Date(Date.now() + HOUR_MS).toISOString());
  const found = useStanding(trajectory);
  const most = found.data?.most;
  const probe = most && {
    agent,
    tools: [...tools],
    uses: 1,
    amounts: most.amounts,
    expires: until,
    because: 'a probe',
  };
  const judged = useTermsJudgement(trajectory, probe);
  const error = found.error ?? judged.error;
  if (error !== null) return <Failed error={error} retry={() => void found.refetch()} />;
  if (most === undefined || judged.data === undefined) return <Loading what="the terms" />;
  const ids = new Set(props.cards.map(({ id }) => id));
  const waiting = judged.data.waiting.filter(({ approval }) => ids.has(approval));
  return <Form {...props} most={most} suggested={suggestedAmounts(waiting, most.amounts)} />;
}

/** The most that the rules allow. */
interface Most {
  readonly uses: number;
  readonly hours: number;
  readonly amounts: Readonly<Record<string, number>>;
}

function Form({
  cards,
  like,
  onClose,
  most,
  suggested,
}: FormProps & { readonly most: Most; readonly suggested: Readonly<Record<string, number>> }) {
  const { trajectory, agent, tools } = like;
  const [isWhole, setWhole] = useState(false);
  const [uses, setUses] = useState(Math.min(most.uses, Math.max(USES, cards.length)));
  const [amounts, setAmounts] = useState(suggested);
  const [until, setUntil] = useState<'today' | 'hour' | 'other'>('today');
  const [other, setOther] = useState<string>();
  const [because, setBecause] = useState('');
  const [key] = useState(() => crypto.randomUUID());
  // The ends stay while the form is open, so that each question about the terms is the same one.
  const [ends] = useState(() => ({
    today: endOfToday(new Date()),
    hour: new Date(Date.now() + HOUR_MS).toISOString(),
  }));
  const expires = until === 'other' ? other : ends[until];
  const covered = isWhole ? wholeServers(tools) : tools;
  const terms: StandingTerms | undefined =
    expires === undefined
      ? undefined
      : { agent, tools: [...covered], uses, amounts: { ...amounts }, expires, because };
  const ask = useAskStanding(trajectory);
  if (ask.data?.waits !== undefined)
    return (
      <AskedStanding asked={ask.data.waits} reason={because} calls={cards} onClose={onClose} />
    );
  const isReady = terms !== undefined && because.trim() !== '';
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !ask.isPending) ask.mutate({ key, terms });
  };
  return (
    <form aria-label="Standing approval" onSubmit={send}>
      <Stack gap="xs">
        <Select
          size="xs"
          label="Tools"
          value={isWhole ? 'server' : 'tools'}
          onChange={(value) => setWhole(value === 'server')}
          data={[
            { value: 'tools', label: tools.join(', ') },
            { value: 'server', label: wholeServers(tools).join(', ') },
          ]}
        />
        <Bounds most={most} uses={uses} onUses={setUses} amounts={amounts} onAmounts={setAmounts} />
        <Radio.Group
          size="xs"
          label="Until"
          value={until}
          onChange={(value) => setUntil(value as typeof until)}
        >
          <Group gap="sm" mt={4}>
            <Radio size="xs" value="today" label="the end of today" />
            <Radio size="xs" value="hour" label="in one hour" />
            <Radio size="xs" value="other" label="another time" />
          </Group>
        </Radio.Group>
        {until === 'other' && (
          <InstantInput label="Until (UTC)" instant={other} onChange={setOther} />
        )}
        <TextInput
          size="xs"
          label="Why"
          description="It is needed, and stays in the ledger."
          value={because}
          onChange={(event) => setBecause(event.currentTarget.value)}
        />
        {terms !== undefined && <Meaning terms={terms} />}
        {terms !== undefined && <Judged trajectory={trajectory} terms={terms} />}
        {ask.error !== null && (
          <Alert color="red" role="alert">
            {ask.error.message}
          </Alert>
        )}
        {ask.data !== undefined && (
          <Alert color="red" role="alert" title={`Not asked for: ${ask.data.ruling}`}>
            <Inert>{ask.data.detail ?? ''}</Inert>
          </Alert>
        )}
        <Group gap="xs">
          <Button size="xs" type="submit" disabled={!isReady} loading={ask.isPending}>
            Ask for it
          </Button>
          <Button size="xs" variant="subtle" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface BoundsProps {
  readonly most: Most;
  readonly uses: number;
  readonly onUses: (uses: number) => void;
  readonly amounts: Most['amounts'];
  readonly onAmounts: (amounts: Most['amounts']) => void;
}

/** The number of calls, and the most that they may spend together of each unit. */
function Bounds({ most, uses, onUses, amounts, onAmounts }: BoundsProps) {
  const number = { size: 'xs', allowDecimal: false, hideControls: true } as const;
  return (
    <Group gap="xs" align="flex-start">
      <NumberInput
        {...number}
        label="Calls, at most"
        description={`1 to ${most.uses}, by the rules`}
        min={1}
        max={most.uses}
        value={uses}
        onChange={(value) => onUses(Math.max(1, Number(value)))}
      />
      {Object.entries(most.amounts).map(([unit, max]) => (
        <NumberInput
          key={unit}
          {...number}
          label={unit}
          description={`0 to ${max}; empty covers no call with ${unit}`}
          min={0}
          max={max}
          value={amounts[unit] ?? ''}
          onChange={(value) => onAmounts(withAmount(amounts, unit, value))}
        />
      ))}
    </Group>
  );
}

function withAmount(
  amounts: Readonly<Record<string, number>>,
  unit: string,
  value: number | string,
): Readonly<Record<string, number>> {
  const { [unit]: _, ...others } = amounts;
  return value === '' ? others : { ...others, [unit]: Math.max(0, Number(value)) };
}

function Judged({
  trajectory,
  terms,
}: {
  readonly trajectory: string;
  readonly terms: StandingTerms;
}) {
  // The reason changes no judgement.
  const { because: _, ...rest } = terms;
  const [asked] = useDebouncedValue(JSON.stringify({ ...rest, because: 'a reason' }), QUIET_MS);
  const found = useTermsJudgement(trajectory, JSON.parse(asked) as StandingTerms);
  const waiting = found.data?.waiting ?? [];
  const like = waiting.filter(({ covered }) => covered).length;
  const isWaiting = found.error === null && found.data?.judgement.ruling === 'escalated';
  return (
    <>
      {isWaiting ? (
        <Text size="sm" role="status" aria-label="Judgement">
          The rules allow these terms. Another person has to approve them.
        </Text>
      ) : (
        <JudgementLine
          judged={found.data?.judgement}
          isOld={found.isPlaceholderData}
          isUnreadable={false}
          error={found.error}
          committed="Would count immediately"
        />
      )}
      {isWaiting && (
        <Text size="sm">
          {like} of {waiting.length} {waiting.length === 1 ? 'call' : 'calls'} of this agent that{' '}
          {waiting.length === 1 ? 'waits' : 'wait'} would be let through, if asked for again.
        </Text>
      )}
    </>
  );
}
