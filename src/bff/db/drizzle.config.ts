import { defineConfig } from 'drizzle-kit'

/** `npx drizzle-kit generate --config src/bff/db/drizzle.config.ts --name <what_changes>` writes the next migration. */
export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/bff/db/schema.ts', './src/bff/db/mail-schema.ts'],
  out: './src/bff/db/migrations',
  casing: 'snake_case',
})
