import { issueWrit, type Writ } from 'assize/internal/authority';
import type { RootKey } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import type { Assize, CreateOptions, Trajectory } from 'assize/internal/runtime';

/** Opens a world of the tour, or creates it. */
export async function openOrCreate(
  assize: Assize,
  domain: Domain,
  beginning: CreateOptions & { readonly trajectoryId: string },
): Promise<Trajectory> {
  const known = await assize.trajectories();
  if (known.some(({ trajectory_id }) => trajectory_id === beginning.trajectoryId))
    return assize.open(beginning.trajectoryId);
  return (await assize.create(domain, beginning)) as Trajectory;
}

/** Fixed, so that the same grant is the same writ in every run. */
const NOT_BEFORE = '2020-01-01T00:00:00.000000Z';
const EXPIRES = '2100-01-01T00:00:00.000000Z';

/** A writ of the tour's root key for one scripted agent. */
export function roleWrit(
  { publicKey, privateKey }: RootKey,
  terms: Pick<Writ, 'subject' | 'actions' | 'scopes'> & { readonly trajectory: string },
): Writ {
  const nonce = `tour ${terms.trajectory} ${terms.subject}`;
  return issueWrit(
    { issuer: publicKey, ...terms, nonce, not_before: NOT_BEFORE, expires: EXPIRES, max_depth: 0 },
    privateKey,
  );
}
