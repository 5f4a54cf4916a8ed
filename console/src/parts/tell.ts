import { visible } from '@assize/command/internal/terminal/visible.ts';
import { notifications } from '@mantine/notifications';

/** Shows a short message for some seconds. It may name things of agents. */
export function tell(message: string): void {
  notifications.show({ message: visible(message), closeButtonProps: { 'aria-label': 'Close' } });
}
