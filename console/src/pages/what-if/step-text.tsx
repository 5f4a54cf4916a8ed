import { visible } from 'assize/internal/views/visible.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { roleText } from '../../parts/role-text.ts';
import { RulingMark, type RulingName } from '../../parts/ruling-mark.tsx';
import type { SimulatedStep } from './use-simulation.ts';

/** The mark of each ruling, and its word where the mark has another. */
const MARKS: Readonly<Record<SimulatedStep['ruling'], readonly [mark: RulingName, word?: string]>> =
  {
    committed: ['committed'],
    rejected: ['rejected'],
    escalated: ['escalated'],
    approved: ['committed', 'Approved'],
    refused: ['rejected', 'Refused'],
    expired: ['rejected', 'Expired'],
  };

export function StepMark({ ruling }: Pick<SimulatedStep, 'ruling'>) {
  const [mark, word] = MARKS[ruling];
  return <RulingMark ruling={mark} word={word} />;
}

/** A proposal with its ruling, and the rule that decided it. */
export function StepText({ step }: { readonly step: SimulatedStep }) {
  const { action, role, args, ruling, rule, reason, detail } = step;
  const by = rule ?? reason;
  return (
    <>
      <StepMark ruling={ruling} />
      <div>
        <Inert>{action}</Inert> by <Inert>{roleText(role)}</Inert>
      </div>
      <div>
        <code className="wraps">
          <Inert>{argsText(args)}</Inert>
        </code>
      </div>
      {by !== undefined && (
        <div>
          {rule !== undefined ? 'Rule ' : ''}
          <code className="wraps">
            <Inert>{by}</Inert>
          </code>
        </div>
      )}
      {detail !== undefined && detail !== '' && (
        <div>
          <Inert>{detail}</Inert>
        </div>
      )}
    </>
  );
}

const SHOWN_MAX = 300;

/** JSON in one line, cut if it is long. */
export function argsText(args: unknown): string {
  const text = visible(JSON.stringify(args ?? {}));
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
