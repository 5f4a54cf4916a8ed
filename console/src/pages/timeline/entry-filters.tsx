import { Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { RULINGS } from '../../parts/ruling-mark.tsx';
import type { TimelineAddress } from './timeline-address.ts';

const TYPING_MS = 300;

/** The filters of a timeline. Its address has them. */
export function EntryFilters({ address }: { readonly address: TimelineAddress }) {
  const { ruling, text, set } = address;
  const [typed, setTyped] = useState(text);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  const search = useDebouncedCallback((value: string) => set({ text: value }), TYPING_MS);
  useHotkeys([['/', () => input.current?.focus()]]);
  return (
    <Group gap="xs" wrap="nowrap">
      <TextInput
        ref={input}
        size="xs"
        flex={1}
        miw={0}
        type="search"
        aria-label="Search entries"
        placeholder="Search: action, role, rule, detail, id"
        maxLength={512}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          search(value);
        }}
        onKeyDown={(event) => event.key === 'Escape' && input.current?.blur()}
      />
      <Select
        size="xs"
        w={140}
        clearable
        aria-label="Ruling"
        placeholder="All rulings"
        value={ruling ?? null}
        onChange={(value) => set({ ruling: value ?? undefined })}
        data={Object.entries(RULINGS).map(([value, { word }]) => ({ value, label: word }))}
      />
    </Group>
  );
}
