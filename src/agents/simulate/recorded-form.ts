import { isRecord, type Json } from '#base';
import { type Domain, offersSameActions } from '#kernel';
import type { OracleCall } from '#oracle';

/**
 * A function that gives a question under another version of the domain the form in which the record
 * has it. A question to a model names the version whose actions it offers. It is the same question
 * if both versions offer its role the same actions, because the model then reads the same request.
 */
export function recordedFormOf(recorded: Domain, tried: Domain): (asking: OracleCall) => OracleCall {
  const same = new Map<string, boolean>();
  const isSame = (role: string, only: readonly string[] | null): boolean => {
    const key = JSON.stringify([role, only]);
    const known = same.get(key) ?? offersSameActions(recorded, tried, role, only);
    same.set(key, known);
    return known;
  };
  return (asking) => {
    if (tried.hash === recorded.hash) return asking;
    const offer = offerIn(asking.request);
    if (offer?.domain !== tried.hash || !isSame(offer.role, offer.only)) return asking;
    return { ...asking, request: { ...(asking.request as object), domain: recorded.hash } as Json };
  };
}

interface Offer {
  readonly domain: string;
  readonly role: string;
  readonly only: readonly string[] | null;
}

/** The offer of a question of `modelAgent`. Undefined for any other question. */
function offerIn(request: unknown): Offer | undefined {
  if (!isRecord(request) || request['ask'] !== 'model') return undefined;
  const { domain, role, actions } = request;
  if (typeof domain !== 'string' || typeof role !== 'string') return undefined;
  if (actions !== null && !(Array.isArray(actions) && actions.every((name) => typeof name === 'string')))
    return undefined;
  return { domain, role, only: actions };
}
