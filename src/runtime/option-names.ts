import { form } from '#base';
import { type Domain, requireOwnDomain } from '#kernel';

/** What arguments of this folder look like. A domain is what `defineDomain` gave: what is in it was checked there. */
export const DOMAIN = form.members({ name: form.text, version: form.text, hash: form.text });
export const DOMAINS = form.list(DOMAIN);
export const NAMES = form.list(form.text);

/** After `requireForm`. @throws CopyError `other_copy` */
export function requireOwnDomains(domains: readonly Domain[]): void {
  for (const domain of domains) requireOwnDomain(domain);
}
