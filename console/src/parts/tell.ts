import { notifications } from '@mantine/notifications';
import { visible } from 'assize/internal/views/visible.ts';

/** Shows a short message for some seconds. It may name things of agents. */
export function tell(message: string): void {
  notifications.show({ message: visible(message), closeButtonProps: { 'aria-label': 'Close' } });
}
