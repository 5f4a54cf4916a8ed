import { Anchor, Button, Group, NumberInput, Slider, Stack, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './entry-panel.module.css';
import { LargeJson } from './large-json.tsx';
import { useOutline } from './outline-query.ts';
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
  const { place, find, open, set } = address;
  const found = useOutline(trajectory, seq, place, find);
  const [first] = found.data?.pages ?? [];
  const label = `State after the entry ${first?.seq}`;
  const search = useDebouncedCallback((text: string) => set({ find: text }), TYPING_MS);
  return (
    <Stack gap="md">
      <Point seq={seq} head={head} goTo={(next) => open(next, true)} />
      {place !== '' && (
        <Text size="sm">
          At <Inert>{place}</Inert>{' '}
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={() => set({ place: parentOf(place), find: undefined })}
          >
            Up
          </Anchor>
        </Text>
      )}
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the state" />}
      {first !== undefined && found.error === null && first.members === undefined && (
        <div className={classes.state}>
          <JsonText value={first.value} label={label} />
        </div>
      )}
      {first?.members !== undefined && found.error === null && (
        <LargeJson
          key={place}
          label={label}
          count={first.count ?? 0}
          members={found.data?.pages.flatMap(({ members = [] }) => members) ?? []}
          text={find}
          onFind={search}
          onOpen={(key) => set({ place: `${place}/${escaped(key)}`, find: undefined })}
          onMore={found.hasNextPage ? () => void found.fetchNextPage() : undefined}
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
