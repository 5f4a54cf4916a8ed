import { Anchor, Button, Group, NumberInput, Slider, Stack, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { LargeJson } from './large-json.tsx';
import type { TimelineAddress } from './timeline-address.ts';

const TYPING_MS = 300;

interface StateProps {
  readonly trajectory: string;
  readonly seq: number;
  readonly head: number;
  readonly address: TimelineAddress;
}

/** The state after an entry. The slider goes to that of another entry. */
export function StateAt({ trajectory, seq, head, address }: StateProps) {
  const { place, open, set } = address;
  const found = useQuery({
    queryKey: ['state-at', trajectory, seq, place],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/trajectories/{trajectory}/state', {
          params: { path: { trajectory }, query: { at: `${trajectory}@${seq}`, pointer: place } },
          signal,
        }),
      ),
  });
  return (
    <Stack gap="md">
      <Point seq={seq} head={head} goTo={(next) => open(next, true)} />
      {place !== '' && (
        <Text size="sm">
          At <Inert>{place}</Inert>{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => set({ place: parentOf(place) })}>
            Up
          </Anchor>
        </Text>
      )}
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the state" />}
      {found.data !== undefined && found.error === null && (
        <LargeJson
          value={found.data.state}
          label={`State after the entry ${found.data.seq}`}
          onOpen={(key) => set({ place: `${place}/${escaped(key)}` })}
        />
      )}
    </Stack>
  );
}

interface PointProps {
  readonly seq: number;
  readonly head: number;
  readonly goTo: (seq: number) => void;
}

function Point({ seq, head, goTo }: PointProps) {
  const [at, setAt] = useState(seq);
  useEffect(() => setAt(seq), [seq]);
  const typed = useDebouncedCallback(goTo, TYPING_MS);
  return (
    <Group gap="md" wrap="nowrap" align="center">
      <Slider
        flex={1}
        size="sm"
        label={(value) => `after entry ${value}`}
        thumbLabel="State after the entry"
        min={0}
        max={Math.max(head, 1)}
        value={at}
        onChange={setAt}
        onChangeEnd={(value) => goTo(Math.min(value, head))}
      />
      <NumberInput
        size="xs"
        w={104}
        aria-label="State after the entry number"
        min={0}
        max={head}
        allowDecimal={false}
        clampBehavior="strict"
        value={at}
        onChange={(value) => {
          if (typeof value !== 'number') return;
          setAt(value);
          typed(value);
        }}
      />
      <Button size="xs" variant="default" disabled={seq === head} onClick={() => goTo(head)}>
        Newest
      </Button>
    </Group>
  );
}

/** A member's name in a JSON Pointer. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}
