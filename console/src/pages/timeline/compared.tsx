import { Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { Changes } from '../../parts/changes.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import type { TimelineAddress } from './timeline-address.ts';

const TYPING_MS = 300;
/** More changes than these are counted only. */
const SHOWN = 100;

interface ComparedProps {
  readonly trajectory: string;
  readonly seq: number;
  readonly address: TimelineAddress;
}

/** The difference of the state after an entry to that after another one. */
export function Compared({ trajectory, seq, address }: ComparedProps) {
  const { to, set } = address;
  const [typed, setTyped] = useState(to);
  const choose = useDebouncedCallback((value: string) => set({ to: value.trim() }), TYPING_MS);
  const other = to === '' ? String(Math.max(0, seq - 1)) : to;
  // In one trajectory the earlier entry is the first one.
  const isLater = /^\d{1,15}$/.test(other) && Number(other) > seq;
  const here = `${trajectory}@${seq}`;
  const there = /^\d{1,15}$/.test(other) ? `${trajectory}@${other}` : other;
  const [first, second] = isLater ? [here, there] : [there, here];
  return (
    <Stack gap="md">
      <TextInput
        size="xs"
        maw={420}
        label="Compare with the state after"
        description="A number, TRAJECTORY@NUMBER, or an id. Without one: the entry before."
        placeholder={String(Math.max(0, seq - 1))}
        maxLength={512}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          choose(value);
        }}
      />
      <Difference from={first} to={second} />
    </Stack>
  );
}

function Difference({ from, to }: { readonly from: string; readonly to: string }) {
  const found = useQuery({
    queryKey: ['diff', from, to],
    queryFn: () => dataOf(api.GET('/v1/diff', { params: { query: { from, to } } })),
  });
  if (found.isPending) return <Loading what="the difference" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { patch, after } = found.data;
  const start = found.data.from as { readonly trajectory_id: string; readonly entry_id: string };
  return (
    <>
      <Text size="sm">
        {patch.length === 0
          ? 'The states are equal: '
          : `${patch.length === 1 ? '1 place' : `${patch.length} places`} changed `}
        from <Inert>{from}</Inert> to <Inert>{to}</Inert>.
        {after === null && ' They have no common entry.'}
      </Text>
      {patch.length > 0 && (
        <Changes
          trajectory={start.trajectory_id}
          at={start.entry_id}
          changes={patch.slice(0, SHOWN)}
        />
      )}
      {patch.length > SHOWN && <Text size="sm">{patch.length - SHOWN} more places changed.</Text>}
    </>
  );
}
