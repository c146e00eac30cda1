import { defineConfig } from 'drizzle-kit'

/** `npx drizzle-kit generate --config src/service/db/drizzle.config.ts --name <what_changes>` writes the next migration. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/service/db/schema',
  out: './src/service/db/migrations',
  casing: 'snake_case',
})
