import { Anchor, Text, TextInput } from '@mantine/core';
import { visibleJson } from 'assize/internal/views/visible.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import classes from './entry-panel.module.css';
import type { StateMember } from './outline-query.ts';

interface LargeProps {
  readonly label: string;
  /** How many members match the text. */
  readonly count: number;
  readonly members: readonly StateMember[];
  readonly text: string;
  readonly onFind: (text: string) => void;
  readonly onOpen: (key: string) => void;
  readonly onMore: (() => void) | undefined;
}

/** The members of a value that is too large for one text. A long member can be opened. */
export function LargeJson({ label, count, members, text, onFind, onOpen, onMore }: LargeProps) {
  return (
    <section aria-label={label}>
      <TextInput
        size="xs"
        mb="xs"
        aria-label="Find a member"
        placeholder="Find a member by its name"
        maxLength={512}
        defaultValue={text}
        onChange={({ currentTarget: { value } }) => onFind(value)}
      />
      <Text size="sm" mb="xs" c="dimmed" role="status">
        {count === 1 ? '1 member' : `${count.toLocaleString('en')} members`}
        {members.length < count && `, the first ${members.length.toLocaleString('en')} shown`}
      </Text>
      <ul className={classes.members}>
        {members.map(({ key, value, count: below = 0 }) => (
          <li key={key}>
            <Anchor component="button" type="button" size="sm" onClick={() => onOpen(key)}>
              <Inert>{key}</Inert>
            </Anchor>{' '}
            {value === undefined ? (
              <Text span size="xs" c="dimmed">
                {below === 0
                  ? 'a long text'
                  : below === 1
                    ? '1 member'
                    : `${below.toLocaleString('en')} members`}
              </Text>
            ) : (
              <code className={classes.member}>{visibleJson(value).replaceAll(/\s+/g, ' ')}</code>
            )}
          </li>
        ))}
      </ul>
      {onMore !== undefined && <ShowMore onMore={onMore} />}
    </section>
  );
}
