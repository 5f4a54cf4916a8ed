import { arg } from '#base';
import { type Domain, requireOwnDomain } from '#kernel';

/**
 * The form of arguments of this folder. A domain was returned by `defineDomain`, so its contents
 * are checked.
 */
export const DOMAIN = arg.members({ name: arg.text, version: arg.text, hash: arg.text });
export const DOMAINS = arg.list(DOMAIN);
export const NAMES = arg.list(arg.text);

/** After `checkArgument`. @throws DuplicatePackageError `duplicate_package` */
export function requireOwnDomains(domains: readonly Domain[]): void {
  for (const domain of domains) requireOwnDomain(domain);
}
