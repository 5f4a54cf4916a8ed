import { KernelError } from '../errors.ts';

export function invalid(domain: string, what: string): KernelError {
  return new KernelError('invalid_domain', `The domain ${domain} is not valid: ${what}.`);
}
