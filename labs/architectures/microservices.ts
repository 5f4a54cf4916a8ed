import { contains, type Domain } from 'assize/internal/kernel';
import type { Architecture, Setting } from './architecture.ts';
import { architecture, type Submission, type Verdict } from './parts.ts';

/**
 * The Microservices Architecture (Agentic Redux, §1.1): agents write to a shared log, independent
 * of each other. Each agent checks for itself the rules whose footprint lies inside its slice, on
 * the state that it has read. Nothing is checked on the current state except types, footprints and
 * the preconditions of `apply`.
 */
export function microservices(): Architecture {
  return architecture({ name: 'microservices', adjudicator: byAgentItself });
}

function byAgentItself({ proposal, read }: Submission, { domain, evaluate }: Setting): Verdict {
  const onRead = evaluate(read, proposal);
  if ('refused' in onRead)
    return { verdict: 'reject', reason: `${onRead.refused.reason}: ${onRead.refused.detail}` };
  const own = ownRules(domain, proposal.role);
  const found = onRead.broken.find(({ rule }) => own.has(rule));
  return found === undefined
    ? { verdict: 'approve' }
    : { verdict: 'reject', reason: found.detail, rule: found.rule };
}

/** The rules that a role can check with its slice alone. */
function ownRules(
  domain: Domain,
  { name, params }: Submission['proposal']['role'],
): ReadonlySet<string> {
  const seen = domain.footprint(name, params);
  const inside = domain.rules.filter(({ patterns }) =>
    patterns.every((pattern) => contains(seen, pattern)),
  );
  return new Set(inside.map(({ id }) => id));
}
