import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './split-view.module.css';

interface SplitProps {
  /** The heading and the filters, which stay in sight. */
  readonly head: ReactNode;
  readonly list: ReactNode;
  readonly listLabel: string;
  readonly detail: ReactNode;
  readonly detailLabel: string;
  /** Whether an item is chosen. A narrow page then shows its detail only. */
  readonly isOpen: boolean;
  readonly backLabel: string;
  readonly onBack: () => void;
}

/** A list beside the detail of its chosen item. */
export function SplitView(props: SplitProps) {
  const { head, list, listLabel, detail, detailLabel, isOpen, backLabel, onBack } = props;
  return (
    <div className={classes.page} data-open={isOpen || undefined}>
      <section className={classes.list} aria-label={listLabel}>
        <div className={classes.head}>{head}</div>
        {list}
      </section>
      <section className={classes.detail} aria-label={detailLabel}>
        {isOpen ? (
          <div className={classes.inner}>
            <Button size="compact-sm" variant="subtle" className={classes.back} onClick={onBack} mb="xs">
              ← {backLabel}
            </Button>
            {detail}
          </div>
        ) : (
          detail
        )}
      </section>
    </div>
  );
}
