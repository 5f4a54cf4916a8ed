import { existsSync } from 'node:fs';

/** Whether a root of Debian can be made here, and programs run in it. */
export const hasContainerTools: boolean =
  process.getuid?.() === 0 &&
  ['/usr/sbin/debootstrap', '/usr/bin/bwrap', '/usr/bin/setpriv'].every((each) => existsSync(each));
