import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { visible } from '../upstream/definitions.ts';
import type { ApiRequest } from './operation-tool.ts';

export const INBOX = 'assize://inbox';
const JSON_TYPE = 'application/json';

/** The resources with parts in their address. */
export const TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'assize://trajectories/{trajectory}/entries/{seq}',
    name: 'entry',
    title: 'An entry of the ledger',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: `${INBOX}/{approval}`,
    name: 'inbox-item',
    title: 'An item of the inbox',
    mimeType: JSON_TYPE,
  },
];

/** The inbox, and each of its items. */
export function inboxResources(
  approvals: readonly Readonly<Record<string, unknown>>[],
): Resource[] {
  const inbox = {
    uri: INBOX,
    name: 'inbox',
    title: 'What waits for a person',
    mimeType: JSON_TYPE,
  };
  const items = approvals.map(({ id, detail, trajectory_id }) => ({
    uri: `${INBOX}/${String(id)}`,
    name: `inbox-${String(id).slice(0, 12)}`,
    title: visible(`${String(trajectory_id)}: ${String(detail)}`.slice(0, 200)),
    mimeType: JSON_TYPE,
  }));
  return [inbox, ...items];
}

/** The request that reads a resource. Undefined for any other address. */
export function resourceRequest(uri: string): ApiRequest | undefined {
  if (uri === INBOX) return { method: 'GET', path: '/v1/approvals?limit=20' };
  const [, approval] = /^assize:\/\/inbox\/([0-9a-f]{64})$/.exec(uri) ?? [];
  if (approval !== undefined) return { method: 'GET', path: `/v1/approvals/${approval}` };
  const [, trajectory, seq] =
    /^assize:\/\/trajectories\/([A-Za-z0-9._:-]+)\/entries\/(\d{1,15})$/.exec(uri) ?? [];
  if (trajectory === undefined) return undefined;
  return { method: 'GET', path: `/v1/entries/${encodeURIComponent(`${trajectory}@${seq}`)}` };
}

export function resourceOf(uri: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
}
