import type { Feature } from '@assize/command';

/** Tenants over several databases: `assize cells`, and stores of the form `cells:FILE`. */
export const cells: Feature = {
  name: 'cells',
  commands: { cells: async () => (await import('./commands/index.ts')).cells },
  storeForm: async () => (await import('./store-form.ts')).cellsForm,
  tenantLog: async (store, tenant) => (await import('./tenant-log.ts')).TenantLog.of(store, tenant),
};
