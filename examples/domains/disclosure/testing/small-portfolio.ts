import type { DisclosureState } from '../index.ts';
import { committed, DIGEST, Office } from './office.ts';

const BETA = { organisation: 'beta', maintainer: 'libc' };

/**
 * States of a portfolio of three: in progress, and at the end of two embargoes with only the
 * disclosures left.
 */
export async function smallPortfolio(): Promise<DisclosureState[]> {
  const office = await Office.open();
  await office.embargoed('a');
  await office.embargoed('b', BETA);
  await office.registered('c');
  await office.done('publish_commitment', 'a', committed('a').publish);
  await office.done('observe_cve', 'a', { cve: 'CVE-2026-1000', source: 'assigned' });
  await office.fixed('a');
  const underWay = office.state;
  await office.done('submit_report', 'c', { digest: DIGEST });
  office.later({ days: 90 });
  await office.fixed('b', BETA);
  await office.ready('a', { group: 'g' }, { cves: ['CVE-2026-1000'] });
  await office.ready('b', { ...BETA, group: 'g' });
  await office.done('resolve_commitment', 'a', committed('a').resolve);
  return [underWay, office.state];
}
