import { Checkbox, Group, Select, TextInput } from '@mantine/core';
import type { Card } from '../../api/queries.ts';
import { counted } from '../../parts/counted.ts';
import { type Arranged, commonLabels, FIELD, ORDERS, orderOf } from './group-approvals.ts';
import { SumText } from './sum-text.tsx';

const BOX = { size: 'xs', allowDeselect: false } as const;

interface FiltersProps {
  readonly arranged: Arranged;
  readonly onChange: (changed: Partial<Arranged>) => void;
  readonly cards: readonly Card[];
  readonly shown: readonly Card[];
  readonly marked: ReadonlySet<string>;
  readonly onMark: (ids: readonly string[], isMarked: boolean) => void;
}

/** The search, the groups and the order of the list, with a mark for all that it shows. */
export default function InboxFilters({
  arranged,
  onChange,
  cards,
  shown,
  marked,
  onMark,
}: FiltersProps) {
  const { text, group, order } = arranged;
  const mine = shown.filter(({ may_decide }) => may_decide);
  const ids = mine.map(({ id }) => id);
  const count = ids.filter((id) => marked.has(id)).length;
  return (
    <>
      <Group gap="xs" mt="xs" grow wrap="nowrap">
        <TextInput
          size="xs"
          type="search"
          aria-label="Search in what waits"
          placeholder="Search"
          value={text}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
        />
        <Select
          {...BOX}
          aria-label="Group by"
          value={group === '' ? 'like' : group}
          onChange={(value) => onChange({ group: value === 'like' ? '' : (value ?? '') })}
          data={[
            { value: 'like', label: 'Group: alike' },
            { value: 'agent', label: 'By agent' },
            { value: 'rule', label: 'By rule' },
            ...commonLabels(cards).map((label) => ({ value: FIELD + label, label: `By ${label}` })),
          ]}
        />
        <Select
          {...BOX}
          aria-label="Order"
          value={orderOf(order)}
          onChange={(value) => onChange({ order: value === 'oldest' ? '' : (value ?? '') })}
          data={Object.entries(ORDERS).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      {ids.length > 1 && (
        <Checkbox
          mt="xs"
          size="xs"
          label={
            <>
              Mark all {counted(ids.length, 'proposal')}
              <SumText cards={mine} />
            </>
          }
          checked={count === ids.length}
          indeterminate={count > 0 && count < ids.length}
          onChange={(event) => onMark(ids, event.currentTarget.checked)}
        />
      )}
    </>
  );
}
