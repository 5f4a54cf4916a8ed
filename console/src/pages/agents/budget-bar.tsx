import { Inert } from '../../parts/inert-text.tsx';
import classes from './budget-bar.module.css';

interface BudgetProps {
  readonly unit: string;
  readonly granted: number;
  readonly spent: number;
  /** Kept for compensations. */
  readonly reserved: number;
  readonly left: number;
}

/** One unit of a budget: a bar for the eye, and the numbers. */
export function BudgetBar({ unit, granted, spent, reserved, left }: BudgetProps) {
  const part = (amount: number) => ({
    width: `${granted === 0 ? 0 : Math.min(100, (amount / granted) * 100)}%`,
  });
  return (
    <div className={classes.budget}>
      <div className={classes.bar} aria-hidden>
        <div className={classes.spent} style={part(spent)} />
        <div className={classes.reserved} style={part(reserved)} />
      </div>
      <span>
        {numberText(spent)} of {numberText(granted)} <Inert>{unit}</Inert> spent
        {reserved > 0 && `, ${numberText(reserved)} kept for compensations`}, {numberText(left)}{' '}
        left
      </span>
    </div>
  );
}

function numberText(amount: number): string {
  return amount.toLocaleString('en');
}
