import { type Domain, isCounselorOf } from 'assize/internal/kernel';

/**
 * Whether a principal may settle a call or end a standing approval, as for an effect in doubt: an
 * admin, whose writ gives the right, or a counselor of a kind of the domain.
 */
export function maySettle(
  domain: Domain,
  principal: string,
  isAdmin: boolean,
  action: string,
): boolean {
  const proposal = { action, role: 'admin', args: {} };
  return (
    isAdmin ||
    Object.keys(domain.counselors).some((kind) =>
      isCounselorOf(domain, kind, principal, [], proposal as never),
    )
  );
}
