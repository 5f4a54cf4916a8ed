import { Button, Group, SegmentedControl, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useMemo } from 'react';
import { useLocation, useParams } from 'wouter';
import { useChoices } from '../../parts/address-choices.ts';
import { KeyLegend, MOVES } from '../../parts/key-legend.tsx';
import { useListKeys } from '../../parts/list-keys.ts';
import { ShowMore } from '../../parts/show-more.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { EffectDetail } from './effect-detail.tsx';
import { EffectList } from './effect-list.tsx';
import { type Shown, useEffectTransactions } from './effects-query.ts';
import { isEnded } from './fates.ts';
import { ResourceLanes } from './resource-lanes.tsx';

const SHOWN: readonly { readonly value: Shown; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'ended', label: 'Ended' },
  { value: 'doubt', label: 'In doubt' },
];

/** The tool transactions: a list, and the chosen one. */
export default function EffectsPage() {
  const { epoch } = useParams<{ readonly epoch?: string }>();
  const [, navigate] = useLocation();
  const [search, choose] = useChoices({ replace: false });
  const shown = SHOWN.find(({ value }) => value === search.get('show'))?.value ?? 'all';
  const isByResource = search.get('view') === 'resources';
  const trajectory = search.get('trajectory') ?? undefined;
  const found = useEffectTransactions(shown, trajectory);
  const transactions = useMemo(() => {
    const all = found.data?.pages.flatMap((page) => page.transactions) ?? [];
    return (shown === 'ended' ? all.filter(isEnded) : all).toSorted((a, b) => b.epoch - a.epoch);
  }, [found.data, shown]);
  const hrefOf = (next: number | string | undefined) => {
    const query = search.toString();
    return `/effects${next === undefined ? '' : `/${next}`}${query === '' ? '' : `?${query}`}`;
  };
  const open = (next: string | undefined) => navigate(hrefOf(next));
  const filter = (name: string, value: string) => {
    if (value === (search.get(name) ?? '')) return;
    choose({ [name]: value });
  };
  useListKeys(
    transactions.map((one) => `${one.epoch}`),
    epoch,
    open,
  );

  const head = (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={8}>
        <Text fw={700} fz={18} aria-hidden>
          Effects
          <Text span c="dimmed" ml={6} size="sm">
            {transactions.length}
            {found.hasNextPage ? '+' : ''}
          </Text>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Which transactions"
          value={shown}
          onChange={(value) => filter('show', value === 'all' ? '' : value)}
          data={[...SHOWN]}
        />
      </Group>
      <TextInput
        size="xs"
        aria-label="World"
        placeholder="World: all"
        key={trajectory ?? ''}
        defaultValue={trajectory ?? ''}
        onBlur={(event) => filter('trajectory', event.currentTarget.value.trim())}
        onKeyDown={(event) =>
          event.key === 'Enter' && filter('trajectory', event.currentTarget.value.trim())
        }
      />
    </>
  );
  const list = (
    <>
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what="transactions" />}
      {found.data !== undefined && transactions.length === 0 && (
        <Nothing shown={shown} isFiltered={shown !== 'all' || trajectory !== undefined} />
      )}
      <EffectList transactions={transactions} openEpoch={epoch} onOpen={open} />
      {found.hasNextPage && <ShowMore onMore={() => void found.fetchNextPage()} />}
    </>
  );
  return (
    <>
      <VisuallyHidden component="h1">Effects</VisuallyHidden>
      <SplitView
        head={head}
        list={list}
        listLabel="Tool transactions"
        detailLabel="Transaction"
        isOpen={epoch !== undefined || isByResource}
        backLabel="Effects"
        onBack={() => (epoch === undefined ? filter('view', '') : open(undefined))}
        detail={
          epoch !== undefined ? (
            <EffectDetail key={epoch} epoch={epoch} />
          ) : isByResource ? (
            <ResourceLanes transactions={transactions} hrefOf={hrefOf} />
          ) : (
            <Empty title="Choose a transaction">
              It shows its calls, and what is permanent, compensated or in doubt.
              <KeyLegend keys={MOVES} />
              <Button size="xs" variant="default" onClick={() => filter('view', 'resources')}>
                Resources by epoch
              </Button>
            </Empty>
          )
        }
      />
    </>
  );
}

function Nothing({ shown, isFiltered }: { readonly shown: Shown; readonly isFiltered: boolean }) {
  if (shown === 'doubt')
    return (
      <Empty title="Nothing is in doubt">
        Every call has a known outcome. Effects in doubt appear here immediately.
      </Empty>
    );
  return (
    <Empty title="No transaction">
      {isFiltered
        ? 'No transaction matches the filters.'
        : 'One appears here when an agent calls a tool.'}
    </Empty>
  );
}
