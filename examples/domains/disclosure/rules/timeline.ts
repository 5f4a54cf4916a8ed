import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { CoDisclosureGroup, DisclosureRecord, DisclosureState, Phase } from '../schema.ts';
import { embargoFault, isPublic, type Known, patchFault } from './preconditions.ts';

/** The data for checking a group: all obstacles to disclosing any of its members. */
type Peer = Partial<Known> & { readonly phase?: Phase };

const PARTS = ['record', 'phase', 'embargo', 'knowledge', 'patches'] as const;

export function timeline({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'DISCLOSURE_TIMELINE_CONSISTENCY',
      '/groups/*',
      {
        reads: ['/records', '/queue/*/*/*/phase', '/queue/*/*/*/embargo', '/knowledge', '/patches'],
        with: placesOf,
      },
      (group, others, [name = '']) => {
        const fault = timelineFault(group, name, peersOf(group, others));
        return fault === undefined ? pass : reject(fault);
      },
    ),
  ];
}

function placesOf({ members }: CoDisclosureGroup): Record<string, `/${string}`> {
  const places: Record<string, `/${string}`> = {};
  for (const [vulnerability, { organisation, maintainer }] of Object.entries(members)) {
    const entry = `/queue/${organisation}/${maintainer}/${vulnerability}` as const;
    places[`record ${vulnerability}`] = `/records/${vulnerability}`;
    places[`phase ${vulnerability}`] = `${entry}/phase`;
    places[`embargo ${vulnerability}`] = `${entry}/embargo`;
    places[`knowledge ${vulnerability}`] = `/knowledge/${vulnerability}`;
    places[`patches ${vulnerability}`] = `/patches/${vulnerability}`;
  }
  return places;
}

function peersOf(
  { members }: CoDisclosureGroup,
  others: Readonly<Record<string, unknown>>,
): Map<string, Peer> {
  const peerOf = (vulnerability: string): Peer =>
    Object.fromEntries(PARTS.map((part) => [part, others[`${part} ${vulnerability}`]]));
  return new Map(
    Object.keys(members).map((vulnerability) => [vulnerability, peerOf(vulnerability)]),
  );
}

function timelineFault(
  { planned_at, members }: CoDisclosureGroup,
  name: string,
  peers: ReadonlyMap<string, Peer>,
): string | undefined {
  for (const [vulnerability, member] of Object.entries(members)) {
    const { record } = peers.get(vulnerability) as Peer;
    const { disclosed_at } = record ?? {};
    if (disclosed_at !== undefined && record?.group !== name) {
      return `${vulnerability} was disclosed with ${record?.group}, not with the group ${name} that it is in`;
    }
    if (disclosed_at !== member.disclosed_at)
      return `the group and the record of ${vulnerability} disagree`;
    if (disclosed_at === undefined) continue;
    if (disclosed_at < planned_at)
      return `the group ${name} is planned to be disclosed at ${planned_at}`;
    for (const [other, peer] of peers) {
      const fault =
        peer.record?.disclosed_at === undefined ? unreadiness(peer, name, disclosed_at) : undefined;
      if (fault !== undefined)
        return `${vulnerability} is disclosed together with ${other}, but that is not ready: ${fault}`;
    }
  }
  return undefined;
}

/** The obstacle to disclosing a peer at the same time. */
function unreadiness(
  { record, phase, embargo, knowledge, patches }: Peer,
  group: string,
  at: string,
): string | undefined {
  if (phase !== 'EMBARGOED' && !isPublic(knowledge, at))
    return `it is ${phase ?? 'not in the queue'}`;
  if (!isReadyFor(record, group, at)) return `it has not been found ready by ${at}`;
  const known = { record, embargo, knowledge, patches };
  return embargoFault(known, at) ?? patchFault(known, at);
}

function isReadyFor(
  record: DisclosureRecord | undefined,
  group: string,
  at: string,
): record is DisclosureRecord {
  return record?.group === group && record.ready_at <= at;
}
