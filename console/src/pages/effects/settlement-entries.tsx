import { useQuery } from '@tanstack/react-query';
import { calls } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Ago } from '../../parts/instant.tsx';

type Entry = components['schemas']['Entry'];

/** The name of the action that records outcomes of calls. */
const SETTLE = 'assize.settle';
/** Entries after the commit that are searched, and entries that are read. */
const SEARCHED = '100';
const READ = 20;

/** The later entries about the calls of a commit: their outcomes and decisions. */
export function SettlementEntries({ commit }: { readonly commit: string }) {
  const found = useQuery({
    queryKey: ['log', 'settlements', commit],
    meta: calls,
    queryFn: () => settlementsOf(commit),
  });
  return found.data?.map(({ id, kind, trajectory_id, seq, payload }) => (
    <Fact key={id} name={kind === 'pending_approval' ? 'Asked a person in' : 'Outcomes in'}>
      <EntryLink id={id} place={{ trajectoryId: trajectory_id, seq }} />
      {typeof payload !== 'string' && (
        <>
          , <Ago at={String(payload['at'])} />
        </>
      )}
    </Fact>
  ));
}

async function settlementsOf(commit: string): Promise<Entry[]> {
  const { trajectory_id: trajectory, seq } = await entryOf(commit);
  const { entries } = await dataOf(
    api.GET('/v1/trajectories/{trajectory}/entries', {
      params: { path: { trajectory }, query: { from: `${seq + 1}`, limit: SEARCHED } },
    }),
  );
  const settling = entries.filter((one) => one['action'] === SETTLE).slice(0, READ);
  const read = await Promise.all(settling.map(({ id }) => entryOf(id)));
  return read.filter((entry) => argumentsOf(entry).includes(commit));
}

function entryOf(entry: string): Promise<Entry> {
  return dataOf(api.GET('/v1/entries/{entry}', { params: { path: { entry } } }));
}

/** The text of the arguments. They name the commits that they are about. */
function argumentsOf({ payload }: Entry): string {
  if (typeof payload === 'string') return '';
  const { action, proposal } = payload as Readonly<
    Record<'action' | 'proposal', { readonly action?: unknown }>
  >;
  return JSON.stringify([action, proposal?.action]);
}
