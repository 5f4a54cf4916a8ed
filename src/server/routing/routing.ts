import { systemRandom } from '#oracle';
import type { Metrics } from '../log/metrics.ts';
import type { ServeOptions } from '../serve-options.ts';
import { Forwarder } from './forwarder.ts';
import { Members, type MembersOptions } from './members.ts';
import { Router } from './router.ts';

/** The parts of a server that forward requests. */
export interface Routing {
  readonly members: Members;
  readonly forwarder: Forwarder;
  readonly router: Router;
}

/** `url`: the address of this server for other servers. `store`: has the side log. */
export function routingOf(
  { root }: Pick<ServeOptions, 'root'>,
  { store, ...ports }: Pick<MembersOptions, 'url' | 'clock' | 'onFailure'> & { readonly store: MembersOptions['side'] },
): Routing {
  const nowMs = (): number => performance.now();
  const members = new Members({ ...ports, side: store, root, random: systemRandom, nowMs });
  const forwarder = new Forwarder(members.id);
  return { members, forwarder, router: new Router(members, forwarder) };
}

/** Announces the server, once it listens. @throws the errors of the store */
export async function startRouting({ members, router }: Routing, metrics: Metrics): Promise<void> {
  await members.start();
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help, read });
  gauge('assize_servers', 'Live servers of the store, with this one.', () => router.members);
  gauge('assize_forwarded_answered', 'Requests that another server answered.', () => router.counts.answered);
  gauge('assize_forwarded_unanswered', 'Requests that another server did not answer.', () => router.counts.unanswered);
}
