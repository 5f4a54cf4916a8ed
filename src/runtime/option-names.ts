import { form } from '#base';
import { type Domain, requireOwnDomain } from '#kernel';

/**
 * The form of arguments of this folder. A domain was returned by `defineDomain`, which checked its
 * contents.
 */
export const DOMAIN = form.members({ name: form.text, version: form.text, hash: form.text });
export const DOMAINS = form.list(DOMAIN);
export const NAMES = form.list(form.text);

/** After `requireForm`. @throws CopyError `other_copy` */
export function requireOwnDomains(domains: readonly Domain[]): void {
  for (const domain of domains) requireOwnDomain(domain);
}
