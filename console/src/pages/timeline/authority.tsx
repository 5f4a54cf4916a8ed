import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { At } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { type EntryDocument, payloadOf } from './entry-query.ts';
import { type Amounts, isOfRuntime } from './payload.ts';

/** The proposer of an entry, by its writ, and the cost of the proposal. */
export function Authority({ entry }: { readonly entry: EntryDocument }) {
  const { trajectory_id: trajectory } = entry;
  const pending = payloadOf(entry, 'pending_approval')?.proposal;
  const done = payloadOf(entry, 'commit', 'rejection');
  const id = pending?.writ_id ?? done?.writ_id;
  const cost = pending?.budget_cost ?? payloadOf(entry, 'commit')?.budget_cost ?? {};
  const writs = useQuery({
    queryKey: ['writs', trajectory],
    enabled: id !== undefined,
    queryFn: () =>
      dataOf(api.GET('/v1/trajectories/{trajectory}/writs', { params: { path: { trajectory } } })),
  });
  if (id === undefined) return null;
  const known = writs.data?.writs.find((writ) => writ.id === id);
  return (
    <Part title="Authority">
      <Facts>
        {known !== undefined && (
          <>
            <Fact
              name={
                done !== undefined && 'action' in done && isOfRuntime(done.action)
                  ? 'Writ of'
                  : 'Asked by'
              }
            >
              {known.writ.subject}
            </Fact>
            {known.principal !== null && known.principal !== known.writ.subject && (
              <Fact name="Principal">{known.principal}</Fact>
            )}
            <Fact name="Writ expires">
              <At at={known.writ.expires} />
            </Fact>
          </>
        )}
        <Fact name="Writ">
          <code>{id}</code>
        </Fact>
        <Fact name="Cost">{amountsText(cost)}</Fact>
      </Facts>
    </Part>
  );
}

/** `3 calls, 200 cents`. */
export function amountsText(amounts: Amounts): string {
  const parts = Object.entries(amounts).map(([unit, amount]) => `${amount} ${unit}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
