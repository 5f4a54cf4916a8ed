import { TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { MoreOnScroll } from '../../parts/more-on-scroll.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { NO_KEY, useAddress } from './address.ts';
import { KeyList } from './key-list.tsx';
import { type Key, type Place, useKeys } from './memory-queries.ts';

const PAUSE_MS = 250;
/** The server has no longer names. */
const NAME_MAX = 512;

/** The keys of a space, searched by the server and listed by pages. */
export function KeysPanel({ place }: { readonly place: Place }) {
  const { address, go, hrefWith } = useAddress();
  const { find = '', subject, predicate } = address;
  const [asked] = useDebouncedValue(find, PAUSE_MS);
  const found = useKeys(place, asked);
  const keys = found.data?.pages.flatMap((page) => page.keys) ?? [];
  const change = (key: Key) => ({ ...NO_KEY, subject: key.subject, predicate: key.predicate });
  const open = (key: Key | undefined) => key !== undefined && go(change(key));
  const move = async (by: number) => {
    const at = keys.findIndex((key) => key.subject === subject && key.predicate === predicate);
    if (at + by < keys.length || !found.hasNextPage)
      return open(keys[Math.min(Math.max(at + by, 0), keys.length - 1)]);
    const { data } = await found.fetchNextPage();
    open(data?.pages.flatMap((page) => page.keys)[at + by]);
  };
  useHotkeys([
    ['j', () => void move(1)],
    ['k', () => void move(-1)],
  ]);
  const isWhole = asked === '';
  const isLoading = found.isPending || (found.isPlaceholderData && keys.length === 0);
  return (
    <>
      <TextInput
        size="xs"
        mx="sm"
        mb="xs"
        aria-label="Search keys"
        placeholder="Search subjects and predicates"
        maxLength={NAME_MAX}
        value={find}
        onChange={(event) => go({ find: event.currentTarget.value }, { replace: true })}
      />
      {isLoading && <Loading what="keys" />}
      {found.isSuccess && !isLoading && keys.length === 0 && (
        <Empty title={isWhole ? 'The space is empty' : 'No key matches'}>
          {isWhole
            ? 'New statements of agents appear here immediately.'
            : 'Search for fewer letters.'}
        </Empty>
      )}
      {keys.length > 0 && (
        <KeyList
          keys={keys}
          open={{
            ...(subject !== undefined && { subject }),
            ...(predicate !== undefined && { predicate }),
          }}
          hrefOf={(key) => hrefWith(change(key))}
        />
      )}
      {found.error !== null && (
        <Failed
          error={found.error}
          retry={() => void (found.isFetchNextPageError ? found.fetchNextPage() : found.refetch())}
        />
      )}
      {found.hasNextPage && found.error === null && (
        <MoreOnScroll isPaused={found.isFetching} onMore={() => void found.fetchNextPage()} />
      )}
    </>
  );
}
