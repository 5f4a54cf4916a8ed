import { systemRandom } from 'assize/internal/oracle';
import type { Metrics } from '../log/metrics.ts';
import { ForwardMark } from './forward-mark.ts';
import { Forwarder } from './forwarder.ts';
import { Members, type MembersOptions } from './members.ts';
import { Router } from './router.ts';

/** The parts of a server that forward requests. */
export interface Routing {
  readonly members: Members;
  readonly forwarder: Forwarder;
  readonly router: Router;
}

export function routingOf(options: Omit<MembersOptions, 'random' | 'nowMs'>): Routing {
  const members = new Members({ ...options, random: systemRandom, nowMs: () => performance.now() });
  const mark = new ForwardMark(options.root);
  const forwarder = new Forwarder(mark);
  return { members, forwarder, router: new Router(members, forwarder, mark) };
}

/** Announces the server, once it listens. @throws the errors of the store */
export async function startRouting({ members, router }: Routing, metrics: Metrics): Promise<void> {
  await members.start();
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help, read });
  gauge('assize_servers', 'Live servers of the store, with this one.', () => router.members);
  gauge('assize_forwarded_answered', 'Requests that another server answered.', () => router.counts.answered);
  gauge('assize_forwarded_unanswered', 'Requests that another server did not answer.', () => router.counts.unanswered);
}
