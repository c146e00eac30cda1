CREATE TABLE "service"."postgres_timeline" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"timeline" text NOT NULL,
	CONSTRAINT "postgres_timeline_one_row" CHECK ("service"."postgres_timeline"."id" = 1)
);
